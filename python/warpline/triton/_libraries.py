"""Libraries that Triton itself binds for comparison. PyTorch performs their operations on the CPU; their kernels are
not profiled."""


class CublasLt:
    """``nvidia.cublas.CublasLt`` of Triton: products with the second matrix transposed."""

    def __init__(self, workspace):
        self.workspace = workspace

    def matmul(self, a, b, c):
        """``c = a @ b.T``, summed in single precision."""
        c.copy_(a.float() @ b.float().T)

    def gemm(self, a, b, c, d, alpha, beta):
        """``d = alpha * a @ b.T + beta * c``."""
        d.copy_(alpha * (a.float() @ b.float().T) + beta * c.float())


def install():
    """Replaces Triton's binding, which searches for NVIDIA's library when a product is requested."""
    from triton._C.libtriton import nvidia

    if hasattr(nvidia, "cublas"):
        nvidia.cublas.CublasLt = CublasLt
