"""``triton.testing`` and autotuning: estimates of the GPU's model instead of measured times."""

import functools
import math
import os

import triton.runtime.autotuner
import triton.testing

from .. import _runtime
from .._errors import DeviceError, WarplineError
from .._profiling import estimate
from ._notes import tell

#: With the value ``whole``, all blocks run whenever an estimate is requested.
ESTIMATES_VARIABLE = "WARPLINE_TRITON_ESTIMATES"

#: The number of blocks of a launch that run if its results do not matter. They represent the others, and are enough to
#: compare configurations.
_BLOCKS = 4


class _Sampled:
    """A context in which only a few blocks of each launch run. Nested contexts belong to the outer one."""

    depth = 0

    def __enter__(self):
        if os.environ.get(ESTIMATES_VARIABLE) != "whole":
            if not _Sampled.depth:
                _runtime.call("__warpline_most_blocks", _BLOCKS)
            _Sampled.depth += 1
        return self

    def __exit__(self, *_):
        if _Sampled.depth:
            _Sampled.depth -= 1
            if not _Sampled.depth:
                _runtime.call("__warpline_most_blocks", 0)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    """Returns the estimated time of the kernels that ``fn()`` launches in milliseconds, in the form of Triton's own
    function."""
    tell(
        "triton.testing and autotuning are given the model's estimates of one run, not measured times (nan where no kernel of Triton's "
        "was launched)"
    )
    # If no kernel of Warpline is launched (for example, only PyTorch's own work on the CPU), there is no estimate, so
    # the result is NaN instead of zero.
    milliseconds = 1e3 * estimate(fn) or math.nan
    if quantiles is not None:
        return milliseconds if len(quantiles) == 1 else [milliseconds] * len(quantiles)
    return [milliseconds] if return_mode == "all" else milliseconds


def install():
    """Replaces the functions that measure times."""
    for name in ("do_bench", "do_bench_cudagraph", "do_bench_proton"):
        if hasattr(triton.testing, name):
            setattr(triton.testing, name, do_bench)
    _wrap(triton.runtime.autotuner.Autotuner, "_bench", _tuned)
    _wrap(triton.testing.Mark, "_run", _benchmarked)


def _wrap(kind, name, around):
    original = getattr(kind, name)
    if not getattr(original, "_warpline", False):

        @functools.wraps(original)
        def wrapped(self, *args, **kwargs):
            return around(functools.partial(original, self), *args, **kwargs)

        wrapped._warpline = True
        setattr(kind, name, wrapped)


def _tuned(original, *args, config, **meta):
    """Estimates one configuration. The kernel runs completely with the best configuration afterwards."""
    tell(
        f"autotuning runs {_BLOCKS} blocks of a launch, spread over its grid, with each configuration, and takes them for all "
        f"({ESTIMATES_VARIABLE}=whole runs all)"
    )
    try:
        with _Sampled():
            return original(*args, config=config, **meta)
    except DeviceError:
        raise
    except WarplineError as error:
        tell(f"autotuning leaves out {config}: {error}")
        return [math.inf] * 3


def _benchmarked(original, *args, **kwargs):
    """Runs a benchmark, whose figures go into its plot; its results are discarded."""
    tell(
        f"benchmarks (triton.testing.perf_report) run {_BLOCKS} blocks of each launch and take them for all, so their kernels' results are "
        f"incomplete ({ESTIMATES_VARIABLE}=whole runs all)"
    )
    with _Sampled():
        return original(*args, **kwargs)
