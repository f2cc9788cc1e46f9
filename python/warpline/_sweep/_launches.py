"""Configurations of a Triton kernel: they are compiled for the modelled GPU, and a few blocks of a launch run on the
CPU device."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

from .. import _runtime
from .._errors import DeviceError, WarplineError
from .._profiling import _sim
from .._tables import load
from ._arguments import Restored, on_the_cpu
from ._decisions import rule_out
from ._figures import SAMPLED, Row, empty, names, note
from ._limits import Limits, exceeded, limits_of
from ._predictions import conflicts, fill, predict
from ._process import in_child

#: The number of blocks of each launch that run, distributed over its grid.
_BLOCKS = 4


class _Launch(NamedTuple):
    """A kernel with its arguments."""

    kernel: Any
    args: Sequence[Any]
    keywords: Mapping[str, Any]
    grid: Any

    def start(self, config: Any, compile_only: bool = False) -> Any:
        """Launches a configuration, or only compiles it."""
        options = {**self.keywords, **config.all_kwargs()}
        if config.pre_hook is not None and not compile_only:
            config.pre_hook({**dict(zip(self.kernel.arg_names, self.args)), **options})
        return self.kernel.run(*self.args, grid=self.grid, warmup=compile_only, **options)


def measure(
    kernel: Any, configs: Optional[Sequence[Any]], args: Any, grid: Any, gpu: Optional[str], workers: Optional[int]
) -> tuple[list[dict[str, Any]], list[Row]]:
    """Returns each configuration's values, and its figures."""
    tuned, found = _unwrapped(kernel)
    wanted = [_config(one) for one in (found if configs is None else configs)]
    if not wanted:
        raise WarplineError("a sweep of no configurations: pass a list of triton.Config or of dictionaries")
    if grid is None:
        raise WarplineError("a sweep of a Triton kernel needs the launch's grid: grid=(…) or grid=lambda meta: (…)")
    positional, keywords = ((), dict(args)) if isinstance(args, Mapping) else (tuple(args), {})
    given = [_values(one) for one in wanted]
    names(given)
    import warpline.triton

    launch = _Launch(tuned, positional, keywords, grid)
    if warpline.triton.is_installed():
        return given, _rows(launch, wanted, gpu, workers)
    if _runtime.functions.cache_info().currsize:
        raise WarplineError("the CPU device has started, but not for Triton: call warpline.triton.install() first")
    launch = _Launch(tuned, on_the_cpu(positional), on_the_cpu(keywords), grid)

    def alone() -> list[Row]:
        warpline.triton.install(gpu)
        _forget_other_devices(tuned)
        return _rows(launch, wanted, gpu, workers)

    # Triton in this process keeps its driver, which may be that of a GPU.
    return given, in_child(alone)


def _unwrapped(kernel: Any) -> tuple[Any, Sequence[Any]]:
    """Returns the kernel inside ``triton.autotune``, and the configurations that are listed there."""
    from triton.runtime.autotuner import Autotuner

    if isinstance(kernel, Autotuner):
        return kernel.fn, kernel.configs
    if not hasattr(kernel, "arg_names") or not hasattr(kernel, "run"):
        raise WarplineError(f"{kernel!r} is no kernel: pass a function with @triton.jit, or the file of a CUDA C++ program")
    return kernel, ()


def _config(given: Any) -> Any:
    """Returns a configuration as a ``triton.Config``."""
    import triton

    if isinstance(given, Mapping):
        values = dict(given)
        own = {name: values.pop(name) for name in ("num_warps", "num_stages", "num_ctas", "maxnreg") if name in values}
        return triton.Config(values, **own)
    if not hasattr(given, "all_kwargs"):
        raise WarplineError(f"{given!r} is no configuration: pass triton.Config or a dictionary of constants and num_warps, num_stages")
    return given


def _values(config: Any) -> dict[str, Any]:
    """Returns the values of a configuration for the columns of the data frame."""
    return {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}


def _forget_other_devices(kernel: Any) -> None:
    """Makes Triton compile the kernel for the CPU device, which has the same device number as the GPU."""
    while kernel is not None:
        if hasattr(kernel, "device_caches"):
            kernel.device_caches.clear()
        kernel = getattr(kernel, "fn", None)


def _rows(launch: _Launch, configs: Sequence[Any], gpu: Optional[str], workers: Optional[int]) -> list[Row]:
    """Computes the figures, with the CPU device as Triton's driver: configurations are compiled in threads, run one
    after the other, and predicted in threads."""
    _runtime.configure(gpu)
    model = _runtime.model()
    if model is None:
        raise WarplineError("a sweep makes profiles of its own: run the script without `warpline run`")
    limits = limits_of(model)
    rows = [empty() for _ in configs]
    with tempfile.TemporaryDirectory(prefix="warpline-sweep-") as folder, ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        compiled = _in_order(pool, lambda one: _compile(launch, one), configs)
        for config, row, one in zip(configs, rows, compiled):
            _take(row, config, one, limits)
        _refuse_if_none(configs, compiled)
        waiting = []
        with Restored([*launch.args, *launch.keywords.values()]) as memory:
            for number, (config, row) in enumerate(zip(configs, rows)):
                if row["decision"] is not None or row["notes"] is not None:
                    continue
                trace = str(Path(folder, f"{number}.wltrace"))
                ran = _run(launch, config, trace, row)
                memory.restore()
                if ran:
                    waiting.append(pool.submit(_analyse, trace, row))
        for one in waiting:
            one.result()
    for row in rows:
        if row["decision"] is None:
            rule_out(row, exceeded(row, limits))
    return rows


def _in_order(pool: ThreadPoolExecutor, work: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """Returns the results of work on each value; the first value is processed alone, because it initializes shared
    state."""
    return [work(values[0]), *pool.map(work, values[1:])]


def _compile(launch: _Launch, config: Any) -> Union[Any, Exception]:
    """Returns the compiled kernel, or the reason why there is none."""
    from triton.compiler.errors import CompilationError
    from triton.runtime.errors import OutOfResources, PTXASError

    try:
        return launch.start(config, compile_only=True)
    except (OutOfResources, PTXASError, CompilationError, WarplineError) as error:
        return error
    except Exception as error:
        # Wrong arguments and options cause exceptions of many kinds.
        cause = f"{type(error).__name__}: {_cause(error)}"
        raise WarplineError(f"configuration {config} cannot be compiled ({cause}): check args=, constants and options") from error


def _refuse_if_none(configs: Sequence[Any], compiled: Sequence[Any]) -> None:
    """Raises the first error if Triton compiles no configuration, because the cause is then in the kernel or in the
    arguments."""
    from triton.compiler.errors import CompilationError

    if all(isinstance(one, CompilationError) for one in compiled):
        raise WarplineError(f"Triton compiles no configuration; {configs[0]}: {_cause(compiled[0])}")


def _take(row: Row, config: Any, compiled: Any, limits: Limits) -> None:
    """Sets the figures that are known after compilation, and decides the configuration if they are sufficient."""
    row["threads"] = 32 * config.num_warps
    if isinstance(compiled, WarplineError):
        # A limit of the CPU device is not a limit of the GPU.
        note(row, f"not run: {compiled}")
        return
    if isinstance(compiled, Exception):
        rule_out(row, exceeded(row, limits) or f"Triton does not compile it: {_cause(compiled)}")
        return
    row["shared_memory"] = compiled.metadata.shared
    if rule_out(row, exceeded(row, limits)) and "ptx" in compiled.asm:
        from ..triton._compiler import registers

        row["registers"] = (registers(compiled.asm["ptx"], limits.architecture) or (None,))[0]


def _cause(error: Exception) -> str:
    """Returns the last line of a message, or, if it only marks a column, the source line before it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    return lines[-1] if lines else type(error).__name__


def _run(launch: _Launch, config: Any, trace: str, row: Row) -> bool:
    """Runs some blocks of a launch and writes their requests to a trace; returns false if the kernel cannot start."""
    from triton.runtime.errors import OutOfResources

    _runtime.call("__warpline_most_blocks", _BLOCKS)
    _runtime.call("__warpline_section_begin", trace.encode(), False)
    try:
        launch.start(config)
    except OutOfResources as error:
        return not rule_out(row, f"Triton does not start it: {error}")
    except DeviceError as error:
        # The device runs no more kernels, so the other configurations cannot be run either.
        raise WarplineError(f"configuration {config} fails: {error}") from error
    except WarplineError as error:
        note(row, f"not run: {error}")
        return False
    finally:
        _runtime.call("__warpline_section_end")
        _runtime.call("__warpline_most_blocks", 0)
    return True


def _analyse(trace: str, row: Row) -> None:
    """Sets the figures of a traced launch."""
    profile = Path(trace).with_suffix(".wlprof")
    # Reuse distances take the most time, and no figure depends on them.
    _sim(trace, "--reuse", "off", "-o", profile)
    launch = load(profile)._tables["tables"]["launches"]
    if not launch["registers"]:
        note(row, "not run: the launch has no blocks")
        return
    for column in ("registers", "shared_memory", "resident_blocks"):
        row[column] = launch[column][0]
    predicted = predict(profile)
    if predicted.refusal is None:
        (configuration,) = predicted.configurations.values()
        fill(row, configuration)
        conflicts(row, launch["shared_wavefronts"][0] or 0, launch["shared_ideal_wavefronts"][0] or 0)
    else:
        row["seconds"] = float(_sim(trace, "--seconds", "--reuse", "off").stdout) or None
        row["source"] = SAMPLED
        note(row, f"no bounds of the time: {predicted.refusal}")
    os.unlink(trace)
