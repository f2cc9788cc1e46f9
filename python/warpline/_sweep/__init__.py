"""Sweeps: many configurations of a kernel as one data frame, each with its figures and a decision, without a GPU.

``_triton.py`` and ``_programs.py`` compute the figures, ``_decisions.py`` decides, ``_tuner.py`` is the hook for
``triton.autotune``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Optional, Sequence, Union

from .._data_frames import of_pandas, of_polars
from .._errors import WarplineError
from . import _decisions, _figures
from ._tuner import pruning

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["prune", "sweep"]


def sweep(
    kernel: Any,
    configs: Optional[Sequence[Any]] = None,
    *,
    args: Union[Sequence[Any], Mapping[str, Any]] = (),
    grid: Any = None,
    name: Optional[str] = None,
    options: Sequence[str] = ("-O3",),
    gpu: Optional[str] = None,
    slack: float = _decisions.SLACK,
    workers: Optional[int] = None,
    frame: Literal["pandas", "polars"] = "pandas",
) -> Union[pandas.DataFrame, polars.DataFrame]:
    """Returns figures and a decision (``hopeless``, ``worth measuring``) for each configuration of a kernel, as a data frame.

    ``kernel`` is a Triton kernel, or the file of a CUDA C++ program. Configurations of Triton are ``triton.Config`` or
    dictionaries, by default those of ``triton.autotune``; ``args`` and ``grid`` are those of the launch. Configurations of
    CUDA C++ are dictionaries of ``block``, ``grid`` and macros; ``args`` are the program's arguments, ``options`` the
    compiler's, ``name`` is a regular expression for the kernel's name. ``gpu`` is a model of ``warpline gpus``, ``slack`` the
    largest factor of measured over modelled time.

    docs/sweep.md lists the columns and the rules."""
    if frame not in ("pandas", "polars"):
        raise WarplineError(f"frame={frame!r} is neither 'pandas' nor 'polars'")
    if slack < 1:
        raise WarplineError(f"slack={slack} is below 1: the modelled time is a lower bound of the measured one")
    if isinstance(kernel, (str, Path)):
        from . import _programs

        if grid is not None:
            raise WarplineError(f"{kernel}: the grid of a CUDA C++ launch belongs to its configuration: {{'block': …, 'grid': …}}")
        given, rows = _programs.measure(Path(kernel), configs, args, name, list(options), gpu, workers)
    else:
        from . import _launches

        given, rows = _launches.measure(kernel, configs, args, grid, gpu, workers)
    _decisions.decide(rows, slack)
    cells, columns = _figures.table(given, rows)
    return of_polars(cells, columns) if frame == "polars" else of_pandas(cells, columns)


def prune(
    kernel: Any = None, *, gpu: Optional[str] = None, slack: float = _decisions.SLACK, workers: Optional[int] = None
) -> dict[str, Callable[..., list[Any]]]:
    """Returns the value of ``prune_configs_by`` of ``triton.autotune``: configurations for which :func:`sweep` decides
    "hopeless" are not measured.

    ``kernel`` is the decorated kernel by default."""
    return {"early_config_prune": pruning(kernel, gpu, slack, workers)}
