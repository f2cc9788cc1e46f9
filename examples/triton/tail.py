"""Scales a signal of any length (1 000 003 by default): the mask of the last block keeps Triton from joining the loads of all of
them, unless the length is a multiple of 16. Read with docs/cases/masked-tail.md."""
import sys

import numpy as np
import triton
import triton.language as tl

import warpline.triton

warpline.triton.install()


@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * factor, mask=at < n)


signal = np.arange(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_003, dtype="f4")
louder = np.zeros_like(signal)
scale[(triton.cdiv(signal.size, 1024),)](signal, louder, signal.size, 2.0, BLOCK=1024)
good = np.array_equal(louder, 2 * signal)
print("tail:", "ok" if good else "WRONG RESULT")
sys.exit(not good)
