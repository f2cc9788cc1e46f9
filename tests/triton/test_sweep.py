"""Sweeps over configurations of Triton kernels, against figures by hand."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import triton
import triton.language as tl

import kernels
import warpline

HERE = Path(__file__).parent


@triton.jit
def copy(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at * STEP))


@triton.jit
def count_up(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + STEP)


@triton.jit
def gather(index_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.static_assert(BLOCK >= 64)
    tl.store(out_ptr + at, tl.load(x_ptr + tl.load(index_ptr + at)))


def sweep_copy(n, steps, kernel=copy, **options):
    """A sweep over distances between neighbouring lanes."""
    x, out = np.ones(n * max(steps), "f4"), np.zeros(n, "f4")
    configs = [{"STEP": step, "BLOCK": 128} for step in steps]
    frame = warpline.sweep(kernel, configs, args=(x, out), grid=lambda meta: (n // meta["BLOCK"],), gpu="a100", **options)
    return frame, x, out


def sweep_matmul(configs, n=128):
    """A sweep over tiles of a matrix product."""
    half = lambda: np.zeros((n, n), "f2")
    sizes = dict(M=n, N=n, K=n, stride_am=n, stride_ak=1, stride_bk=n, stride_bn=1, stride_cm=n, stride_cn=1)
    args = dict(a_ptr=half(), b_ptr=half(), c_ptr=half(), **sizes, GROUP=4, ACTIVATION="")
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)
    return warpline.sweep(kernels.matmul, configs, args=args, grid=grid, gpu="a100")


def tile(m, n, k, **options):
    """A configuration of the matrix product."""
    return triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, **options)


class Figures(unittest.TestCase):
    """Columns of the data frame."""

    def test_a_stride_costs_sectors(self):
        frame, _, out = sweep_copy(4096, (1, 8))
        self.assertEqual(list(frame.configuration), [0, 1])
        self.assertEqual(list(frame.STEP), [1, 8])
        # 32 blocks of 4 warps, which load and store 32 elements each: 4 sectors, or 32 of 8 elements.
        self.assertEqual(list(frame.blocks), [32, 32])
        self.assertEqual(list(frame.threads), [128, 128])
        self.assertEqual(list(frame.global_requests), [256, 256])
        self.assertEqual(list(frame.global_sectors), [128 * (4 + 4), 128 * (32 + 4)])
        self.assertEqual(list(frame.l2_load_bytes), [4096 * 4, 4096 * 32])
        self.assertEqual(list(frame.dram_load_bytes), [4096 * 4, 4096 * 32])
        self.assertEqual(list(frame.l2_store_bytes), [4096 * 4] * 2)
        self.assertEqual(list(frame.bank_conflicts), [0, 0])
        self.assertEqual(list(frame.source), ["predicted"] * 2)
        # Kernels of less than 8 us are never ruled out by their time.
        self.assertEqual(list(frame.decision), ["worth measuring"] * 2)
        self.assertEqual(out.max(), 0)

    def test_slower_kernels_are_ruled_out(self):
        # 2^20 elements: 8 MiB at 1.49 TB/s are 5.6 us; 32 + 4 MiB are 25 us, more than 2.2 times as much.
        frame, _, _ = sweep_copy(1 << 20, (1, 8))
        self.assertEqual(list(frame.limiter), ["dram", "dram"])
        for seconds, mebibytes in zip(frame.seconds, (8, 36)):
            self.assertAlmostEqual(seconds * 1.49e12 / (1 << 20), mebibytes, delta=0.02 * mebibytes)
        self.assertEqual(list(frame.decision), ["worth measuring", "hopeless"])
        self.assertRegex(frame.reason[1], r"modelled time: at least 24.* us, configuration 0 at most 12.* us")
        kept, _, _ = sweep_copy(1 << 20, (1, 8), slack=5, frame="polars")
        self.assertEqual(list(kept["decision"]), ["worth measuring"] * 2)

    def test_shared_memory_of_pipelines(self):
        frame = sweep_matmul([tile(64, 64, 32, num_stages=3), tile(64, 32, 32, num_stages=2), tile(128, 128, 128, num_stages=4, num_warps=8)])
        # Halves of both tiles, once per stage but one.
        needed = [2 * (64 + 64) * 32 * 2, 2 * (64 + 32) * 32 * 1, 2 * (128 + 128) * 128 * 3]
        self.assertEqual(list(frame.shared_memory), needed)
        self.assertEqual(list(frame.num_stages), [3, 2, 4])
        self.assertEqual(list(frame.decision), ["worth measuring", "worth measuring", "hopeless"])
        self.assertEqual(frame.reason[2], "shared memory: 196608 bytes per block, a100 allows 166912")
        self.assertTrue(all(registers > 0 for registers in frame.registers))
        self.assertTrue(frame.global_sectors.isna()[2])

    def test_blocks_have_threads_at_most(self):
        frame, _, _ = sweep_copy(4096, (1,))
        self.assertEqual(list(frame.decision), ["worth measuring"])
        x, out = np.zeros(4096, "f4"), np.zeros(4096, "f4")
        configs = [{"STEP": 1, "BLOCK": 2048, "num_warps": warps} for warps in (4, 64)]
        frame = warpline.sweep(copy, configs, args=(x, out), grid=(2,), gpu="a100")
        self.assertEqual(frame.reason[1], "threads: 2048 per block, a100 allows 1024")

    def test_unknown_addresses_have_a_wide_interval(self):
        index, x, out = np.arange(4096, dtype="i4")[::-1].copy(), np.ones(4096, "f4"), np.zeros(4096, "f4")
        configs = [{"BLOCK": block} for block in (32, 128, 256)]
        frame = warpline.sweep(gather, configs, args=(index, x, out), grid=lambda meta: (4096 // meta["BLOCK"],), gpu="a100")
        self.assertEqual(list(frame.decision), ["hopeless", "worth measuring", "worth measuring"])
        self.assertIn("Triton does not compile it: tl.static_assert(BLOCK >= 64)", frame.reason[0])
        # Of 4 warps each: a load of indices, a gather and a store; of 256 indices two gathers, as a lane has two of them.
        self.assertEqual(list(frame.global_requests[1:]), [32 * 4 * 3, 16 * 4 * 4])
        # The loads of a configuration with unknown addresses are as uncertain as their share of the sectors.
        self.assertTrue((frame.l2_load_uncertainty[1:] > 0.3).all(), list(frame.l2_load_uncertainty))
        self.assertTrue((frame.seconds_low[1:] <= frame.seconds[1:]).all() and (frame.seconds_high[1:] >= frame.seconds[1:]).all())
        self.assertRegex(frame.notes[1], "% of the sectors have addresses that depend on data")

    def test_arrays_keep_their_contents(self):
        _, x, _ = sweep_copy(4096, (1, 2), kernel=count_up)
        self.assertEqual((x.min(), x.max()), (1, 1))


TUNED = """
import sys, numpy as np, triton, triton.language as tl
import warpline, warpline.triton
warpline.triton.install(gpu="a100")
import test_sweep

configs = [test_sweep.tile(128, 128, 128, num_stages=4, num_warps=8), test_sweep.tile(32, 32, 32), test_sweep.tile(64, 64, 32)]
tuned = triton.autotune(configs, key=["M"], prune_configs_by=warpline.prune())(test_sweep.kernels.matmul)
n = 64
a, b, c = np.ones((n, n), "f2"), np.ones((n, n), "f2"), np.zeros((n, n), "f2")
tuned[lambda meta: (triton.cdiv(n, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](
    a, b, c, n, n, n, n, 1, n, 1, n, 1, GROUP=4, ACTIVATION="")
assert (c == n).all(), c
print([one.kwargs["BLOCK_M"] for one in tuned.configs_timings])
_, x, _ = test_sweep.sweep_copy(4096, (1, 2), kernel=test_sweep.count_up)
print(x.min(), x.max())
frame, _, _ = test_sweep.sweep_copy(4096, (8,))
print(frame.global_sectors[0])
test_sweep.sweep_copy(4096, (1,), kernel=test_sweep.beyond)
"""


@triton.jit
def beyond(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at + 4096, tl.load(x_ptr + at * STEP))


class Hook(unittest.TestCase):
    """``triton.autotune(prune_configs_by=warpline.prune())``, where Triton runs on the CPU device already."""

    def test_hopeless_configurations_are_not_tuned(self):
        search = os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", TUNED], env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True, timeout=300
        )
        self.assertEqual(done.stdout.splitlines(), ["[32, 64]", "1.0 1.0", str(128 * (32 + 4))], done.stderr)
        self.assertRegex(done.stderr, r"WarplineError: configuration STEP: 1, BLOCK: 128.* fails: .*CUDA_ERROR_ILLEGAL_ADDRESS")

    def test_the_hook_serves_tuners_only(self):
        with self.assertRaisesRegex(warpline.WarplineError, r"pass the kernel, warpline.prune\(kernel\)"):
            warpline.prune()["early_config_prune"]([], {})


class Errors(unittest.TestCase):
    """They name the input, the cause and the next step."""

    def fails(self, message, *arguments, **options):
        with self.assertRaisesRegex(warpline.WarplineError, message):
            warpline.sweep(*arguments, **options)

    def test_wrong_arguments(self):
        grid = dict(grid=(1,), gpu="a100")
        self.fails("no configurations: pass a list", copy, [], **grid)
        self.fails("needs the launch's grid: grid=", copy, [{"STEP": 1, "BLOCK": 128}])
        self.fails("3 is no configuration: pass triton.Config or a dictionary", copy, [3], **grid)
        self.fails("is no kernel: pass a function with @triton.jit", 5, [{}], **grid)
        self.fails("sets blocks, which is a column of figures", copy, [{"blocks": 1}], **grid)
        self.fails("frame='arrow' is neither 'pandas' nor 'polars'", copy, [{}], frame="arrow", **grid)
        self.fails("slack=0.5 is below 1", copy, [{}], slack=0.5, **grid)
        self.fails("cannot be compiled .TypeError: .*missing 3 required positional arguments.*: check args=", copy, [{"STEP": 1}], **grid)
        self.fails("Triton compiles no configuration; BLOCK: 32.*static_assert", gather, [{"BLOCK": 32}], args=(np.zeros(32, "i4"), *[np.zeros(32, "f4")] * 2), **grid)
        self.fails("unknown GPU model `abacus`", copy, [{"STEP": 1, "BLOCK": 128}], grid=(1,), gpu="abacus")

    def test_a_launch_that_fails_names_its_configuration(self):
        with self.assertRaisesRegex(warpline.WarplineError, "configuration STEP: 1, BLOCK: 128.* fails: .*CUDA_ERROR_ILLEGAL_ADDRESS"):
            sweep_copy(4096, (1,), kernel=beyond)


if __name__ == "__main__":
    unittest.main()
