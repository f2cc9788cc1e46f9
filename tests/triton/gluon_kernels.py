"""Kernels in Gluon, where shared memory is laid out by hand."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def transpose(x_ptr, out_ptr, SWIZZLED: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 32 if SWIZZLED else 1, order=[1, 0])
    at = gl.arange(0, 32, gl.SliceLayout(1, rows))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, rows))[None, :]
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], shared)
    tile.store(gl.load(x_ptr + at))
    gl.store(out_ptr + at, tile.permute((1, 0)).load(rows))
