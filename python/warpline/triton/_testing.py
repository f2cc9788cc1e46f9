"""``triton.testing`` and autotuning: estimates of the GPU's model in the place of times."""

import math
import sys

import triton.testing

from .._profiling import estimate

_said: list = []


def _tell():
    if not _said:
        _said.append(True)
        print(
            "warpline: note: triton.testing and autotuning are given the model's estimates of one run, not measured times (nan where no "
            "kernel of Triton's was launched)",
            file=sys.stderr,
        )


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    """The estimated time of the kernels that ``fn()`` launches, in milliseconds, in the form that Triton's own function gives."""
    _tell()
    # What launches no kernel of ours (PyTorch's own work, on the CPU) has no estimate: no number, rather than no time.
    milliseconds = 1e3 * estimate(fn) or math.nan
    if quantiles is not None:
        return milliseconds if len(quantiles) == 1 else [milliseconds] * len(quantiles)
    return [milliseconds] if return_mode == "all" else milliseconds


def install():
    """Takes the place of what measures times."""
    for name in ("do_bench", "do_bench_cudagraph", "do_bench_proton"):
        if hasattr(triton.testing, name):
            setattr(triton.testing, name, do_bench)
