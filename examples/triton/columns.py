"""Sums over the rows of a matrix whose rows are the columns of another: a view, 2048 elements from one element of a row to
the next. With the argument "fixed" the matrix is copied first. Read with docs/cases/strided-load.md."""
import sys

import numpy as np
import triton
import triton.language as tl

import warpline.triton

warpline.triton.install()


@triton.jit
def row_sums(x_ptr, out_ptr, stride_row, stride_column, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_row + at * stride_column, mask=at < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x))


def sums(matrix):
    rows, columns = matrix.shape
    result = np.zeros(rows, "f4")
    strides = [step // matrix.itemsize for step in matrix.strides]
    row_sums[(rows,)](matrix, result, *strides, columns, BLOCK=triton.next_power_of_2(columns))
    return result


weights = np.random.default_rng(1).random((512, 2048), "f4")
turned = np.ascontiguousarray(weights.T) if sys.argv[1:] == ["fixed"] else weights.T
good = np.allclose(sums(turned), weights.sum(axis=0), rtol=1e-4)
print("columns:", "ok" if good else "WRONG RESULT")
sys.exit(not good)
