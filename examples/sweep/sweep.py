"""200 configurations of a matrix product and of a softmax in Triton: which of them are worth measuring? Read with docs/sweep.md.

usage: sweep.py matmul|softmax [N [CSV]]      a sweep; N (512) sizes the matrices, CSV keeps the data frame
       sweep.py matmul|softmax N CSV whole    runs all configurations whole on the CPU device and compares: takes long
"""
import sys
import time

import numpy as np
import pandas
import triton
import triton.language as tl

import warpline


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * K + inner[None, :]
    b_at = b_ptr + inner[:, None] * N + columns[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_at, mask=(rows[:, None] < M) & (inner[None, :] < K - k), other=0.0)
        b = tl.load(b_at, mask=(inner[:, None] < K - k) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(a, b, sums)
        a_at += BLOCK_K
        b_at += BLOCK_K * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], sums.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def softmax(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    top = tl.full([ROWS], -float("inf"), dtype=tl.float32)
    total = tl.zeros([ROWS], dtype=tl.float32)
    for begin in range(0, columns, COLUMNS):
        inside = (row[:, None] < rows) & (begin + column[None, :] < columns)
        x = tl.load(x_ptr + row[:, None] * columns + begin + column[None, :], mask=inside, other=-1e30)
        new = tl.maximum(top, tl.max(x, 1))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new[:, None]), 1)
        top = new
    for begin in range(0, columns, COLUMNS):
        inside = (row[:, None] < rows) & (begin + column[None, :] < columns)
        x = tl.load(x_ptr + row[:, None] * columns + begin + column[None, :], mask=inside, other=-1e30)
        tl.store(out_ptr + row[:, None] * columns + begin + column[None, :], tl.exp(x - top[:, None]) / total[:, None], mask=inside)


def product(n):
    """The kernel, its configurations, arguments and grid."""
    tiles = (16, 32, 64, 128, 256)
    configs = [
        triton.Config({"BLOCK_M": m, "BLOCK_N": width, "BLOCK_K": k}, num_warps=warps, num_stages=3)
        for m in tiles for width in tiles for k in (16, 32, 64, 128) for warps in (4, 8)
    ]
    a, b, c = (np.zeros((n, n), "f2") for _ in range(3))
    return matmul, configs, (a, b, c, n, n, n), lambda meta: (triton.cdiv(n, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"]))


def rows_of(n):
    """The same of the softmax, of 4 n rows of n elements."""
    configs = [
        triton.Config({"ROWS": rows, "COLUMNS": columns}, num_warps=warps)
        for rows in (1, 2, 4, 8, 16) for columns in (32, 64, 128, 256, 512, 1024, 2048, 4096) for warps in (1, 2, 4, 8, 16)
    ]
    x, out = np.zeros((4 * n, n), "f4"), np.zeros((4 * n, n), "f4")
    return softmax, configs, (x, out, 4 * n, n), lambda meta: (triton.cdiv(4 * n, meta["ROWS"]),)


def run_whole(kernel, configs, args, grid, frame):
    """Seconds of each configuration by the model, with simulated caches, from a run of all blocks."""
    import triton.testing
    import warpline.triton

    warpline.triton.install(gpu="a100")
    seconds = []
    for config, known in zip(configs, frame["seconds"].notna()):
        launch = lambda: kernel[grid](*args, **config.all_kwargs())
        seconds.append(triton.testing.do_bench(launch) / 1e3 if known else None)
    return seconds


def main(name, n=512, csv=None, whole=None):
    kernel, configs, args, grid = {"matmul": product, "softmax": rows_of}[name](int(n))
    if whole is None:
        started = time.time()
        frame = warpline.sweep(kernel, configs, args=args, grid=grid, gpu="a100")
        print(f"{len(frame)} configurations in {time.time() - started:.0f} s")
        if csv:
            frame.to_csv(csv, index=False)
    else:
        frame = pandas.read_csv(csv)
        started = time.time()
        frame["whole_seconds"] = run_whole(kernel, configs, args, grid, frame)
        print(f"run whole in {time.time() - started:.0f} s")
        frame.to_csv(csv, index=False)
        best = frame["whole_seconds"].idxmin()
        print(f"best of the whole runs: configuration {best}, {frame.decision[best]}")
    shown = [*list(configs[0].kwargs), "num_warps", "seconds", "limiter", "shared_memory", "registers", "dram_load_bytes"]
    print(frame.decision.value_counts().to_string())
    print(frame[frame.decision == "worth measuring"].sort_values("seconds")[shown].head(10).to_string())


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("matmul", "softmax"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
