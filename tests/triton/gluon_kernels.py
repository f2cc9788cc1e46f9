"""Kernels in Gluon, where shared memory is laid out by hand."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import mma_v2


@gluon.jit
def transpose(x_ptr, out_ptr, SWIZZLED: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 32 if SWIZZLED else 1, order=[1, 0])
    at = gl.arange(0, 32, gl.SliceLayout(1, rows))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, rows))[None, :]
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], shared)
    tile.store(gl.load(x_ptr + at))
    gl.store(out_ptr + at, tile.permute((1, 0)).load(rows))


@gluon.jit
def product(a_ptr, b_ptr, c_ptr, PHASES: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [1, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 2, PHASES, order=[1, 0])
    products: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [1, 1], [16, 8])
    at = gl.arange(0, 32, gl.SliceLayout(1, rows))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, rows))[None, :]
    a = gl.allocate_shared_memory(gl.float16, [32, 32], shared, gl.load(a_ptr + at)).load(gl.DotOperandLayout(0, products, 2))
    b = gl.allocate_shared_memory(gl.float16, [32, 32], shared, gl.load(b_ptr + at)).load(gl.DotOperandLayout(1, products, 2))
    c = mma_v2(a, b, gl.zeros([32, 32], gl.float32, products))
    of = gl.arange(0, 32, gl.SliceLayout(1, products))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, products))[None, :]
    gl.store(c_ptr + of, c)
