"""Configurations of a CUDA C++ kernel: each set of macros is compiled and run once, and block shapes and grids are
predicted."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

from .. import _runtime
from .._errors import WarplineError
from . import _builds
from ._decisions import rule_out
from ._figures import SIMULATED, Row, empty, names, note
from ._limits import Limits, exceeded, limits_of
from ._predictions import MOSTLY_KNOWN, conflicts, fill, predict, share_known

#: The oldest architecture for which warpline-cc builds; programs for older models are built for its default
#: architecture.
_FIRST_ARCHITECTURE = 75

#: The maximum number of threads of a block along z on every CUDA architecture.
_DEPTH = 64

_Shape = tuple[int, int, int]


class _Wanted(NamedTuple):
    """One configuration: the macros for the compilation, and the shape of the launch."""

    macros: tuple[str, ...]
    block: Optional[_Shape]
    grid: Optional[_Shape]


class _Program(NamedTuple):
    """The properties that all configurations share."""

    source: Path
    args: list[str]
    kernel: str
    options: list[str]
    limits: Limits


def measure(
    source: Path, configs: Optional[Sequence[Any]], args: Any, name: Optional[str], options: list[str], gpu: Optional[str], workers: Optional[int]
) -> tuple[list[dict[str, Any]], list[Row]]:
    """Returns each configuration's values, and its figures."""
    if not source.is_file():
        raise WarplineError(f"{source}: no such file: pass the CUDA C++ source of a program, or a Triton kernel")
    if not configs:
        raise WarplineError(f"{source}: a sweep of no configurations: pass a list of dictionaries such as {{'block': '32x8', 'TILE': 16}}")
    try:
        re.compile(name or "")
    except re.error as error:
        raise WarplineError(f"{source}: name={name!r} is no regular expression: {error}") from error
    wanted = [_wanted(source, one) for one in configs]
    given = [_values(values, one) for values, one in zip(configs, wanted)]
    names(given)
    limits = limits_of(gpu or _runtime.DEFAULT_GPU)
    if limits.architecture >= _FIRST_ARCHITECTURE and not any(one.startswith(("-arch", "-gencode", "--cuda-gpu-arch")) for one in options):
        options = [*options, f"-arch=sm_{limits.architecture}"]
    program = _Program(source, [str(one) for one in args], name or "", options, limits)
    rows = [empty() for _ in wanted]
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, one in enumerate(wanted):
        groups.setdefault(one.macros, []).append(number)
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        done = [pool.submit(_group, program, macros, [(wanted[one], rows[one]) for one in numbers]) for macros, numbers in groups.items()]
        failures = [failure for one in done for failure in [one.result()] if failure is not None]
    if len(failures) == len(groups):
        raise WarplineError(f"{source}: no configuration can be compiled: {failures[0]}")
    for row in rows:
        if row["decision"] is None:
            rule_out(row, exceeded(row, limits))
    return given, rows


def _wanted(source: Path, given: Any) -> _Wanted:
    """Reads a configuration."""
    if not isinstance(given, Mapping):
        raise WarplineError(f"{source}: {given!r} is no configuration: pass a dictionary of 'block', 'grid' and macros")
    macros = []
    for macro, value in given.items():
        if macro in ("block", "grid"):
            continue
        if not re.fullmatch(r"[A-Za-z_]\w*", str(macro)):
            raise WarplineError(f"{source}: {macro!r} in {given!r} is no name of a macro")
        macros.append(f"-D{macro}={int(value) if isinstance(value, bool) else value}")
    return _Wanted(tuple(sorted(macros)), _shape(source, given, "block"), _shape(source, given, "grid"))


def _shape(source: Path, given: Mapping[str, Any], key: str) -> Optional[_Shape]:
    """Reads a size in three dimensions from 32, "32x8", or (32, 8)."""
    value: Union[int, str, Sequence[int], None] = given.get(key)
    if value is None:
        return None
    parts = [value] if isinstance(value, int) else value.split("x") if isinstance(value, str) else list(value)
    try:
        sizes = [int(one) for one in parts]
    except (TypeError, ValueError):
        sizes = []
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise WarplineError(f"{source}: {key}={value!r} in {dict(given)!r} is no shape: pass 256, '32x8' or (32, 8)")
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def _text(shape: _Shape) -> str:
    return "x".join(map(str, shape))


def _values(given: Mapping[str, Any], wanted: _Wanted) -> dict[str, Any]:
    """Returns the values of a configuration for the columns of the data frame; shapes are texts."""
    shapes = {key: _text(shape) for key, shape in (("block", wanted.block), ("grid", wanted.grid)) if shape is not None}
    return {name: shapes.get(name, int(value) if isinstance(value, bool) else value) for name, value in given.items()}


def _group(program: _Program, macros: tuple[str, ...], members: list[tuple[_Wanted, Row]]) -> Optional[str]:
    """Sets the figures of the configurations with these macros; returns the reason if they cannot be compiled."""
    for wanted, row in members:
        if wanted.block is not None:
            row["threads"] = wanted.block[0] * wanted.block[1] * wanted.block[2]
            deep = wanted.block[2] > _DEPTH
            rule_out(row, exceeded(row, program.limits) or (f"threads: {wanted.block[2]} along z, CUDA allows {_DEPTH}" if deep else None))
    waiting = [(wanted, row) for wanted, row in members if row["decision"] is None]
    if not waiting:
        return None
    try:
        executable = _builds.build(program.source, [*program.options, *macros])
    except _builds.DoesNotCompile as error:
        for _, row in waiting:
            rule_out(row, f"does not compile: {error}")
        return str(error)
    profile = _builds.profile(executable, program.args, program.kernel, program.limits.gpu, " ".join(macros))
    refused = [one for one in _builds.refused_launches(profile.document) if re.search(program.kernel, one["name"] or "")]
    if refused:
        for _, row in waiting:
            rule_out(row, f"CUDA refuses the launch: {refused[0]['reason']}")
        return None
    kernel, launch = _recorded(profile.document, program)
    shape: _Shape = tuple(launch["block"])  # type: ignore[assignment]
    for wanted, row in waiting:
        block = wanted.block or shape
        row["threads"] = block[0] * block[1] * block[2]
        row["registers"] = launch["registers"]
        row["shared_memory"] = launch["static_shared_bytes"] + launch["dynamic_shared_bytes"]
        rule_out(row, exceeded(row, program.limits))
    for grid in dict.fromkeys(wanted.grid for wanted, row in waiting if row["decision"] is None):
        same = [(wanted.block or shape, row) for wanted, row in waiting if wanted.grid == grid and row["decision"] is None]
        _predicted(program, profile, kernel, launch, grid, same)
    return None


def _recorded(document: dict[str, Any], program: _Program) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the kernel, and its recorded launch."""
    there = ", ".join(kernel["name"] for kernel in document["kernels"])
    found = [kernel for kernel in document["kernels"] if re.search(program.kernel, kernel["name"])]
    if len(found) > 1:
        found_names = ", ".join(kernel["name"] for kernel in found)
        raise WarplineError(f"{program.source}: several kernels match {program.kernel!r}: {found_names}; pass name= with a regular expression of one")
    launches = [launch for kernel in found for launch in kernel.get("launches", []) if launch.get("metrics")]
    if not launches:
        raise WarplineError(
            f"{program.source}: no launch of a kernel that matches {program.kernel!r} was recorded: pass name= with a regular expression of one;"
            f" the program has {there or 'none'}"
        )
    return found[0], launches[0]


def _predicted(
    program: _Program, profile: _builds.Recorded, kernel: dict[str, Any], launch: dict[str, Any], grid: Optional[_Shape], members: list[tuple[_Shape, Row]]
) -> None:
    """Sets the figures of the launches on one grid, with one call of ``warpline predict``."""
    shapes = ",".join(dict.fromkeys(_text(block) for block, _ in members))
    options = ["--kernel", program.kernel, "--gpu", program.limits.gpu, "--block", shapes]
    answer = predict(profile.path, *options, *(["--grid", _text(grid)] if grid is not None else []))
    recorded: _Shape = tuple(launch["block"])  # type: ignore[assignment]
    for block, row in members:
        found = answer.configurations.get(block)
        ran = block == recorded and grid in (None, tuple(launch["grid"]))
        if ran and (found is None or share_known(found) < MOSTLY_KNOWN):
            _simulated(row, kernel, launch)
        elif found is not None:
            fill(row, found)
            if ran:
                shared = launch["metrics"].get("shared", {}).get("shared", {})
                conflicts(row, shared.get("wavefronts", 0), shared.get("ideal_wavefronts", 0))
            if row["resident_blocks"] == 0:
                rule_out(row, f"no block of {row['threads']} threads fits on an SM of {program.limits.gpu}")
        else:
            note(row, f"not predicted: {answer.refused.get(block) or answer.refusal or 'the shape was left out'}")


def _simulated(row: Row, kernel: dict[str, Any], launch: dict[str, Any]) -> None:
    """If the kernel cannot be predicted, sets the figures of the recorded launch to those of its own run."""
    space = launch["metrics"].get("global", {})
    shared = launch["metrics"].get("shared", {}).get("shared", {})
    l2, dram = space.get("l2", {}), space.get("dram", {})
    x, y, z = launch["grid"]
    row.update(blocks=x * y * z, resident_blocks=launch["resident_blocks"], source=SIMULATED)
    row.update(global_requests=space.get("requests"), global_sectors=space.get("sectors"))
    row.update(l1_wavefronts=space.get("l1_wavefronts", {}).get("data"), shared_wavefronts=shared.get("wavefronts", 0))
    if l2:
        row.update(l2_load_bytes=32 * l2["load_lookups"], l2_store_bytes=32 * (l2["lookups"] - l2["load_lookups"]))
    if dram:
        row.update(dram_load_bytes=32 * dram["read_sectors"], dram_store_bytes=32 * dram["write_sectors"])
    conflicts(row, shared.get("wavefronts", 0), shared.get("ideal_wavefronts", 0))
    for estimate in (kernel.get("estimates") or [])[:1]:
        seconds = estimate["seconds"]
        row.update(seconds=seconds, seconds_low=seconds, seconds_high=seconds, limiter=estimate["limiter"])
