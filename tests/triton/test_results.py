"""Kernels give the results that NumPy gives."""

import collections
import ctypes
import unittest

import numpy as np
import triton

import kernels
import warpline
import warpline.triton
from warpline import _runtime, _tensors
from warpline._arrays import as_argument
from warpline.triton._compiler import compile_ir

warpline.triton.install()

RANDOM = np.random.default_rng(1)


def random(*shape, dtype="f4"):
    return RANDOM.standard_normal(shape).astype(dtype)


class Results(unittest.TestCase):
    """Each kernel against its reference."""

    def close(self, found, wanted, tolerance=1e-5):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)

    def test_vector_add_with_a_tail(self):
        for n in (1, 1000, 5000, 4096):
            left, right, out = random(n), random(n), np.zeros(n, "f4")
            kernels.vector_add[(triton.cdiv(n, 1024),)](left, right, out, n, BLOCK=1024)
            np.testing.assert_array_equal(out, left + right)

    def test_views_are_read_and_written_in_place(self):
        whole, out = random(64), np.zeros(128, "f4")
        kernels.vector_add[(1,)](whole[16:48], whole[:32], out[64:96], 32, BLOCK=32)
        np.testing.assert_array_equal(out[64:96], whole[16:48] + whole[:32])
        self.assertFalse(out[:64].any() or out[96:].any())

    def test_eviction_policies_are_hints(self):
        x, out = np.arange(100, dtype="f4"), np.zeros(100, "f4")
        kernels.evicting_copy[(1,)](x, out, 100, BLOCK=128)
        np.testing.assert_array_equal(out, 2 * x)

    def test_a_frame_larger_than_an_ordinary_stack_runs(self):
        # 256 elements a lane make about 3000 instructions, generated without optimisation: 380 KiB of values, where stacks have 256 KiB.
        x, out = np.linspace(-1, 1, 8192, dtype="f4"), np.zeros(8192, "f4")
        kernels.large_tile[(2,)](x, out, BLOCK=8192, num_warps=1)
        wanted = x
        for step in range(4):
            wanted = wanted * wanted + np.float32(step)
        self.close(out, wanted)

    def test_transpose(self):
        x, out = random(96, 64), np.zeros((64, 96), "f4")
        kernels.transpose[(3, 2)](x, out, 96, 64, BLOCK=32)
        np.testing.assert_array_equal(out, x.T)

    def test_softmax(self):
        x = random(37, 781)
        out = np.empty_like(x)
        kernels.softmax[(8,)](out, x, 781, 781, 37, BLOCK=1024)
        top = np.exp(x - x.max(1, keepdims=True))
        self.close(out, top / top.sum(1, keepdims=True))

    def product(self, kernel, dtype, tolerance, M=96, N=80, K=72, **options):
        a, b, c = random(M, K, dtype=dtype), random(K, N, dtype=dtype), np.zeros((M, N), dtype)
        blocks = options.pop("blocks", {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 2})
        grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
        kernel[grid](a, b, c, M, N, K, K, 1, N, 1, N, 1, **blocks, **options)
        wanted = a.astype("f8") @ b.astype("f8")
        if options["ACTIVATION"]:
            wanted = np.where(wanted >= 0, wanted, 0.01 * wanted)
        self.close(c.astype("f8"), wanted, tolerance)

    def test_matrix_products(self):
        self.product(kernels.matmul, "f2", 2e-2, ACTIVATION="leaky")
        self.product(kernels.matmul, "f2", 2e-2, ACTIVATION="", num_stages=1)
        self.product(kernels.matmul, "f2", 2e-2, ACTIVATION="", num_warps=8, M=128, N=128, K=128)
        self.product(kernels.matmul, "f4", 2e-2, ACTIVATION="")
        self.product(kernels.tuned_matmul, "f2", 2e-2, ACTIVATION="", blocks={})

    def test_integer_product(self):
        a, b = (RANDOM.integers(-100, 100, (32, 32)).astype("i1") for _ in range(2))
        c = np.zeros((32, 32), "i4")
        kernels.integer_matmul[(1,)](a, b, c, N=32)
        np.testing.assert_array_equal(c, a.astype("i4") @ b.astype("i4"))

    def test_dropout_is_seeded(self):
        x = random(3000) + 10
        first, second, other = (np.zeros_like(x) for _ in range(3))
        for out, seed in ((first, 5), (second, 5), (other, 6)):
            kernels.dropout[(3,)](x, out, 3000, 0.5, seed, BLOCK=1024)
        np.testing.assert_array_equal(first, second)
        self.assertTrue((first != other).any())
        kept = first != 0
        self.assertTrue(0.4 < kept.mean() < 0.6)
        self.close(first[kept], 2 * x[kept])

    def test_layer_norm(self):
        x, w, b = random(9, 300), random(300), random(300)
        y, mean, rstd = np.zeros_like(x), np.zeros(9, "f4"), np.zeros(9, "f4")
        kernels.layer_norm[(9,)](x, y, w, b, mean, rstd, 300, 300, 1e-5, BLOCK=128)
        self.close(mean, x.mean(1))
        self.close(y, (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b, 1e-4)

    def test_sums_behind_locks(self):
        x = random(40, 100)
        partial, locks = np.zeros((4, 100), "f4"), np.zeros(8, "i4")
        kernels.column_sums[(40,)](x, partial, locks, 100, GROUP=4, BLOCK=128)
        self.close(partial.sum(0), x.sum(0), 1e-4)
        self.assertFalse(locks[:4].any())

    def test_attention(self):
        heads, length, depth = 2, 128, 64
        for causal in (False, True):
            q, k, v = (random(heads, length, depth, dtype="f2") for _ in range(3))
            out = np.zeros_like(q)
            kernels.attention[(length // 64, heads)](
                q, k, v, out, 0.125, length * depth, depth, length, HEAD=depth, BLOCK_M=64, BLOCK_N=32, CAUSAL=causal
            )
            scores = q.astype("f8") @ k.astype("f8").transpose(0, 2, 1) * 0.125
            if causal:
                scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            wanted = weights / weights.sum(-1, keepdims=True) @ v.astype("f8")
            self.close(out.astype("f8"), wanted, 1e-2)

    def test_functions_of_libdevice(self):
        x = RANDOM.uniform(-1, 1, 1000).astype("f4")
        out = np.zeros_like(x)
        kernels.arcsines[(1,)](x, out, 1000, BLOCK=1024)
        self.close(out, np.arcsin(x))

    def test_atomics(self):
        x, out = RANDOM.integers(0, 16, 5000).astype("i4"), np.zeros(16, "i4")
        kernels.histogram[(5,)](x, out, 5000, BLOCK=1024)
        np.testing.assert_array_equal(out, np.bincount(x, minlength=16))

    def test_reductions_scans_and_sorts(self):
        x = random(16, 64)
        sums, index, ordered, scanned = np.zeros(16, "f4"), np.zeros(16, "i4"), np.zeros_like(x), np.zeros_like(x)
        kernels.reductions[(1,)](x, sums, index, ordered, scanned, ROWS=16, COLUMNS=64)
        self.close(sums, x.sum(1), 1e-4)
        np.testing.assert_array_equal(index, x.argmax(1))
        np.testing.assert_array_equal(ordered, np.sort(x, 1))
        self.close(scanned, np.cumsum(x, 1), 1e-4)

    def test_small_formats(self):
        x = random(512)
        half, brain, eighth = np.zeros(512, "f2"), np.zeros(512, "f4"), np.zeros(512, "f4")
        kernels.casts[(1,)](x, half, brain, eighth, BLOCK=512)
        np.testing.assert_array_equal(half, x.astype("f2"))
        bits = x.view("u4").astype("u8")
        np.testing.assert_array_equal(brain.view("u4"), ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype("u4"))
        # Two bits of fraction: half a step is an eighth.
        self.assertLessEqual(np.abs(eighth / x - 1).max(), 0.1251)

    def test_long_vectors_are_taken_apart(self):
        # As LLVM makes of indices of 64 bits, of which 32 are used.
        text = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @regroup(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %t to i64
  %one = insertelement <16 x i64> poison, i64 %wide, i64 0
  %all = shufflevector <16 x i64> %one, <16 x i64> poison, <16 x i32> zeroinitializer
  %moved = insertelement <16 x i64> %all, i64 30064771077, i64 14
  %sums = add <16 x i64> %moved, %all
  %parts = bitcast <16 x i64> %sums to <32 x i32>
  %low = extractelement <32 x i32> %parts, i64 28
  %high = extractelement <32 x i32> %parts, i64 29
  %pair = insertelement <2 x i32> poison, i32 %low, i64 0
  %both = insertelement <2 x i32> %pair, i32 %high, i64 1
  %at = getelementptr <2 x i32>, ptr addrspace(1) %out, i64 %wide
  store <2 x i32> %both, ptr addrspace(1) %at
  ret void
}
"""
        out = np.zeros((32, 2), "i4")
        self.run_ir(text, "regroup", out)
        # 7 * 2^32 + 5, and the thread's number.
        np.testing.assert_array_equal(out, [[thread + 5, 7] for thread in range(32)])

    def test_vectors_of_bits_are_packed(self):
        # LLVM reads masks so that Triton keeps as bytes in shared memory.
        text = """
target triple = "nvptx64-nvidia-cuda"
@kept = internal addrspace(3) global [64 x i8] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @bits(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = shl i32 %t, 1
  %first = getelementptr i8, ptr addrspace(3) @kept, i32 %place
  %second = getelementptr i8, ptr addrspace(3) %first, i32 1
  %odd = trunc i32 %t to i8
  %low = and i8 %odd, 1
  store i8 %low, ptr addrspace(3) %first
  store i8 1, ptr addrspace(3) %second
  %all = load <16 x i1>, ptr addrspace(3) %first, align 2
  %one = extractelement <16 x i1> %all, i64 0
  %other = extractelement <16 x i1> %all, i64 8
  %swapped = insertelement <16 x i1> zeroinitializer, i1 %one, i64 9
  store <16 x i1> %swapped, ptr addrspace(3) %first, align 2
  %number = load i16, ptr addrspace(3) %first, align 2
  %sum = zext i16 %number to i32
  %more = zext i1 %other to i32
  %result = add i32 %sum, %more
  %wide = zext i32 %t to i64
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %result, ptr addrspace(1) %to
  ret void
}
"""
        out = np.zeros(32, "i4")
        self.run_ir(text, "bits", out)
        np.testing.assert_array_equal(out, [1 + 512 * (thread % 2) for thread in range(32)])

    def test_bfloat16_is_rounded_to_even(self):
        text = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @narrow(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %t to i64
  %from = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %single = load float, ptr addrspace(1) %from
  %brain = fptrunc float %single to bfloat
  %again = fpext bfloat %brain to float
  %to = getelementptr float, ptr addrspace(1) %out, i64 %wide
  store float %again, ptr addrspace(1) %to
  ret void
}
"""
        x, out = random(32), np.zeros(32, "f4")
        # Ties to either side, one that carries into the exponent, a subnormal number, no numbers.
        bits = [0x3F808000, 0x3F818000, 0x3F80FFFF, 0x3FFFFFFF, 0x00008001, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFF800001, 0x80000000]
        x.view("u4")[: len(bits)] = bits
        self.run_ir(text, "narrow", x, out)
        given = x.view("u4").astype("u8")
        rounded = ((given + 0x7FFF + (given >> 16 & 1)) >> 16 << 16).astype("u4")
        np.testing.assert_array_equal(out.view("u4"), np.where(np.isnan(x), np.uint32(0x7FFF0000), rounded))

    def test_bfloat16_is_computed_in_single_precision_and_rounded(self):
        text = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare bfloat @llvm.maxnum.bf16(bfloat, bfloat)
declare bfloat @llvm.fma.bf16(bfloat, bfloat, bfloat)
declare bfloat @llvm.sqrt.bf16(bfloat)
define ptx_kernel void @brains(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %t to i64
  %from = getelementptr <2 x bfloat>, ptr addrspace(1) %in, i64 %wide
  %both = load <2 x bfloat>, ptr addrspace(1) %from
  %x = extractelement <2 x bfloat> %both, i32 0
  %y = extractelement <2 x bfloat> %both, i32 1
  %sum = fadd bfloat %x, %y
  %product = fmul bfloat %x, %y
  %more = fcmp ogt bfloat %x, %y
  %number = uitofp i1 %more to bfloat
  %most = call bfloat @llvm.maxnum.bf16(bfloat %sum, bfloat %product)
  %fused = call bfloat @llvm.fma.bf16(bfloat %x, bfloat %y, bfloat %number)
  %root = call bfloat @llvm.sqrt.bf16(bfloat %x)
  %a = insertelement <4 x bfloat> poison, bfloat %most, i32 0
  %b = insertelement <4 x bfloat> %a, bfloat %fused, i32 1
  %c = insertelement <4 x bfloat> %b, bfloat %root, i32 2
  %d = insertelement <4 x bfloat> %c, bfloat %number, i32 3
  %to = getelementptr <4 x bfloat>, ptr addrspace(1) %out, i64 %wide
  store <4 x bfloat> %d, ptr addrspace(1) %to
  ret void
}
"""

        def brain(single):
            bits = single.astype("f4").view("u4").astype("u8")
            return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype("u4").view("f4")

        x, y = brain(abs(random(32))), brain(random(32))
        pairs = np.stack([x.view("u4") >> 16, y.view("u4") >> 16], 1).astype("u2")
        out = np.zeros((32, 4), "u2")
        code = self.run_ir(text, "brains", pairs, out)
        more = (x > y).astype("f4")
        expected = [np.maximum(brain(x + y), brain(x * y)), brain(x * y + more), brain(np.sqrt(x)), more]
        np.testing.assert_array_equal(out, np.stack([(one.view("u4") >> 16).astype("u2") for one in expected], 1))
        # What LLVM calls for each lane.
        self.assertFalse(b"__truncsfbf2" in code)

    def run_ir(self, text, name, *arrays):
        """Runs a kernel that is written as LLVM IR in one warp, and gives its code."""
        module, function = ctypes.c_size_t(), ctypes.c_size_t()
        code = compile_ir(text, name, 80)
        _runtime.call("__warpline_load_module", ctypes.byref(module), code, name.encode())
        _runtime.call("cuModuleGetFunction", ctypes.byref(function), module.value, name.encode())
        for array in arrays:
            _tensors.announce(as_argument(array), "array", [])
        addresses = [ctypes.c_uint64(array.ctypes.data) for array in arrays]
        pointers = (ctypes.c_void_p * len(addresses))(*map(ctypes.addressof, addresses))
        _runtime.call("cuLaunchKernel", function.value, 1, 1, 1, 32, 1, 1, 0, None, pointers, None)
        _runtime.call("cuCtxSynchronize")
        return code

    def test_tensor_descriptors(self):
        x, out = random(52, 72), np.zeros((52, 72), "f4")
        kernels.descriptor_copy[(2, 3)](x, out, 52, 72, R=32, C=32)
        np.testing.assert_array_equal(out, x)

    def test_arrays_in_tuples(self):
        Pair = collections.namedtuple("Pair", "left right")
        left, right, out = random(100), random(100), np.zeros(100, "f4")
        kernels.sum_of_all[(1,)]((left, right, left), out, 100, BLOCK=128)
        self.close(out, 2 * left + right)
        kernels.sum_of_all[(1,)](Pair(left, right), out, 100, BLOCK=128)
        self.close(out, left + right)

    def test_tuning_resets_and_restores_arrays(self):
        before = random(1000)
        x, sums = before.copy(), np.zeros(1000, "f4")
        kernels.tuned_in_place[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, sums_ptr=sums, n=1000)
        np.testing.assert_array_equal(x, before + 1)
        np.testing.assert_array_equal(sums, before)

    def test_arrays_that_kernels_cannot_read_are_refused(self):
        out = np.zeros(64, "f4")
        with self.assertRaisesRegex(warpline.WarplineError, "byte order of another machine .>f4."):
            kernels.masked_copy[(1,)](np.ones(64, ">f4"), out, 64, BLOCK=64)
        with self.assertRaisesRegex(warpline.WarplineError, "no elements of type complex64"):
            kernels.masked_copy[(1,)](np.ones(64, "c8"), out, 64, BLOCK=64)

    def test_grids_are_of_integers(self):
        x, out = np.ones(64, "f4"), np.zeros(64, "f4")
        kernels.masked_copy[(np.int64(1), np.int32(1))](x, out, 64, BLOCK=64)
        self.assertTrue((out == 1).all())
        with self.assertRaisesRegex(TypeError, "'float' object cannot be interpreted as an integer"):
            kernels.masked_copy[(1.0,)](x, out, 64, BLOCK=64)

    def test_other_arrays(self):
        class Interface:
            def __init__(self, array):
                self.array = array
                self.__array_interface__ = array.__array_interface__

        class DLPack:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        for wrap in (Interface, DLPack):
            left, right, out = random(100), random(100), np.zeros(100, "f4")
            kernels.vector_add[(1,)](wrap(left), wrap(right), wrap(out), 100, BLOCK=128)
            np.testing.assert_array_equal(out, left + right)


if __name__ == "__main__":
    unittest.main()
