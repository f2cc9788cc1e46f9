"""Calls ``warpline predict``, which computes figures of whole launches from a profile in which some blocks of one
launch were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, Optional

from .._binaries import run
from .._errors import WarplineError
from ._figures import PREDICTED, Row, note

#: The exit code for a kernel of which no address is known before a run.
_NOTHING_KNOWN = 4

#: If the share of sectors with known addresses is below this value and the launch ran, the figures are those of the
#: run.
MOSTLY_KNOWN = 0.99

#: The columns for the fields of a predicted configuration.
_FIELDS = {
    **{"seconds": "seconds", "limiter": "limiter", "resident_blocks": "blocks_per_sm", "global_requests": "requests"},
    **{"global_sectors": "request_sectors"},
    **{
        name: name
        for name in (
            *("l1_wavefronts", "shared_wavefronts", "l2_load_bytes", "l2_store_bytes", "dram_load_bytes", "dram_store_bytes"),
            *("l2_load_uncertainty", "dram_load_uncertainty"),
        )
    },
}


class Prediction(NamedTuple):
    """The configurations by block shape, the reasons for refused shapes, and the reason if the kernel is refused."""

    configurations: dict[tuple[int, ...], dict[str, Any]]
    refused: dict[tuple[int, ...], str]
    refusal: Optional[str]


def predict(profile: Path, *options: str) -> Prediction:
    """Returns the answer of ``warpline predict``."""
    done = run("warpline", "predict", profile, "--format", "json", *options, check=False)
    if done.returncode == _NOTHING_KNOWN:
        return Prediction({}, {}, done.stderr.strip().replace("warpline: ", "").replace("\n", " "))
    if done.returncode != 0:
        raise WarplineError(f"launches of {profile.name} cannot be predicted: {done.stderr.strip()}")
    document = json.loads(done.stdout)
    configurations = {tuple(one["block"]): one for one in document["configurations"]}
    return Prediction(configurations, {tuple(one["block"]): one["reason"] for one in document.get("refused", [])}, None)


def share_known(configuration: dict[str, Any]) -> float:
    """Returns the share of the requested sectors whose addresses follow from the launch."""
    return configuration["affine_share"] + configuration["computed_share"]


def fill(row: Row, configuration: dict[str, Any]) -> None:
    """Sets a row's figures to those of a predicted configuration."""
    for column, field in _FIELDS.items():
        row[column] = configuration.get(field)
    known = share_known(configuration)
    x, y, z = configuration["grid"]
    row["blocks"], row["source"] = x * y * z, PREDICTED
    if "other_work" in configuration:
        # The time belongs to a different amount of work, so it is neither comparable nor a bound for others.
        note(row, f"does {configuration['other_work']:.3g} times the work of the recorded launch")
        return
    row["seconds_low"], row["seconds_high"] = configuration["seconds_low"], configuration["seconds_high"]
    if known < MOSTLY_KNOWN:
        note(row, f"{1 - known:.0%} of the sectors have addresses that depend on data")


def conflicts(row: Row, passes: int, ideal: int) -> None:
    """Sets the passes over banks beyond those without conflicts, from the recorded blocks, assuming that all blocks
    have the same conflicts."""
    if row["shared_wavefronts"] is not None and passes:
        row["bank_conflicts"] = round(row["shared_wavefronts"] * (passes - ideal) / passes)
    elif row["shared_wavefronts"] == 0:
        row["bank_conflicts"] = 0
