"""Numbers of eight bits that only newer GPUs convert (e4m3), on a model of one."""

import unittest

import numpy as np
import triton.language as tl

import kernels
import warpline.triton

warpline.triton.install(gpu="rtx4090")


def values(mantissa_bits, bias):
    """What each byte stands for; infinities and NaN are NaN."""
    codes = np.arange(256)
    exponent, mantissa = (codes & 0x7F) >> mantissa_bits, codes & ((1 << mantissa_bits) - 1)
    normal = np.ldexp(1.0 + mantissa / (1 << mantissa_bits), exponent - bias)
    small = np.ldexp(mantissa / (1 << mantissa_bits), 1 - bias)
    found = np.where(exponent == 0, small, normal) * np.where(codes & 0x80, -1.0, 1.0)
    largest = 0x7E if mantissa_bits == 3 else 0x7B
    found[(codes & 0x7F) > largest] = np.nan
    return found


class Eighths(unittest.TestCase):
    """Conversions to and from them."""

    def both_ways(self, kind, table):
        x = np.linspace(-500, 500, 256, dtype="f4")
        narrow, wide = np.zeros(256, "u1"), np.zeros(256, "f4")
        codes = np.arange(256).astype("u1")
        kernels.eighths[(1,)](x, narrow, codes, wide, KIND=kind, BLOCK=256)
        known = ~np.isnan(table)
        np.testing.assert_array_equal(wide[known], table[known])
        # No number of the format is nearer.
        finite = table[known]
        clipped = np.clip(x, finite.min(), finite.max())
        error = np.abs(table[narrow] - clipped)
        np.testing.assert_array_equal(error, np.abs(finite[None, :] - clipped[:, None]).min(1))
        # A thread with one element has registers of four in which the others were never set.
        for count in (8, 128, 256):
            few, wide = x[:: 256 // count].copy(), np.zeros(count, "f4")
            kernels.through_eighths[(1,)](few, wide, KIND=kind, BLOCK=count)
            np.testing.assert_array_equal(wide, table[narrow[:: 256 // count]])

    def test_four_bits_of_exponent(self):
        self.both_ways(tl.float8e4nv, values(3, 7))

    def test_five_bits_of_exponent(self):
        self.both_ways(tl.float8e5, values(2, 15))


if __name__ == "__main__":
    unittest.main()
