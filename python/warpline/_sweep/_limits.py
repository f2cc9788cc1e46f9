"""The hardware limits of a block on a GPU model."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

from .._binaries import run
from .._errors import WarplineError
from ._figures import Row

#: The maximum number of threads of a block on every CUDA architecture.
_THREADS = 1024
#: The number of lanes of a warp; models with other widths are refused.
_LANES = 32


class Limits(NamedTuple):
    """The limits of a block, and the architecture (80 for ``sm_80``)."""

    gpu: str
    architecture: int
    shared: int
    registers: int
    register_unit: int


def limits_of(gpu: str) -> Limits:
    """Returns the limits of a model, from ``warpline gpus``."""
    found = dict(re.findall(r"^ +(\w+) +([\d.]+) ", run("warpline", "gpus", gpu).stdout, re.MULTILINE))
    try:
        major, _, minor = found["compute_capability"].partition(".")
        return Limits(
            gpu,
            10 * int(major) + int(minor or 0),
            int(found.get("shared_per_block_optin") or found["shared_per_block"]),
            int(found["registers_per_sm"]),
            int(found["register_unit"]),
        )
    except KeyError as missing:
        raise WarplineError(f"the model {gpu} has no {missing}: a sweep needs an NVIDIA model (`warpline gpus` lists them)") from missing


def exceeded(row: Row, limits: Limits) -> Optional[str]:
    """Returns a description of the hardware limit that a block exceeds, or ``None`` if it exceeds no known limit."""
    threads, shared, registers = row["threads"], row["shared_memory"], row["registers"]
    if threads is not None and threads > _THREADS:
        return f"threads: {threads} per block, {limits.gpu} allows {_THREADS}"
    if shared is not None and shared > limits.shared:
        return f"shared memory: {shared} bytes per block, {limits.gpu} allows {limits.shared}"
    if threads is None or registers is None:
        return None
    # Registers are allocated to warps in units.
    warps, unit = -(-threads // _LANES), limits.register_unit
    needed = warps * (-(-registers * _LANES // unit) * unit)
    if needed > limits.registers:
        return f"registers: {needed} per block ({registers} per thread), {limits.gpu} has {limits.registers} per SM"
    return None
