"""The figures of a configuration: the columns of a sweep, and their types."""

from __future__ import annotations

from typing import Any

from .._errors import WarplineError

#: The figures of one configuration, keyed by column.
Row = dict[str, Any]

HOPELESS, WORTH = "hopeless", "worth measuring"

#: How the figures of traffic were obtained (``source``): ``predicted`` for the whole launch from address expressions,
#: ``simulated`` in a run of the whole launch, or ``sampled`` from some of its blocks. The value is missing if the
#: kernel was only compiled, or could not be compiled.
PREDICTED, SIMULATED, SAMPLED = "predicted", "simulated", "sampled"

#: The columns after those of the configuration. docs/sweep.md describes each.
FIGURES: dict[str, type] = {
    **{"decision": str, "reason": str},
    **{"seconds": float, "seconds_low": float, "seconds_high": float, "limiter": str},
    **{"threads": int, "blocks": int, "registers": int, "shared_memory": int, "resident_blocks": int},
    **{"global_requests": int, "global_sectors": int, "l1_wavefronts": int, "shared_wavefronts": int, "bank_conflicts": int},
    **{"l2_load_bytes": int, "l2_store_bytes": int, "dram_load_bytes": int, "dram_store_bytes": int},
    **{"l2_load_uncertainty": float, "dram_load_uncertainty": float},
    **{"source": str, "notes": str},
}


def empty() -> Row:
    """Returns the row of a configuration without any figures."""
    return dict.fromkeys(FIGURES)


def note(row: Row, text: str) -> None:
    """Adds a remark about the row's figures."""
    row["notes"] = f"{row['notes']}; {text}" if row["notes"] else text


def names(configurations: list[dict[str, Any]]) -> list[str]:
    """Returns the columns of the configurations, in the order of their first occurrence."""
    found = list(dict.fromkeys(name for one in configurations for name in one))
    taken = sorted({"configuration", *FIGURES}.intersection(found))
    if taken:
        raise WarplineError(f"a configuration sets {taken[0]}, which is a column of figures: give that constant or macro another name")
    return found


def table(configurations: list[dict[str, Any]], rows: list[Row]) -> tuple[dict[str, list[Any]], dict[str, type]]:
    """Returns the cells and types of the data frame: the configurations' number and values, then the figures."""
    cells: dict[str, list[Any]] = {"configuration": list(range(len(rows)))}
    columns: dict[str, type] = {"configuration": int}
    for name in names(configurations):
        cells[name], columns[name] = _uniform([one.get(name) for one in configurations])
    for name, kind in FIGURES.items():
        cells[name], columns[name] = [row[name] for row in rows], kind
    return cells, columns


def _uniform(values: list[Any]) -> tuple[list[Any], type]:
    """Returns the values of a column if they have one type, and their texts otherwise. Truth values also become texts,
    because they may be missing."""
    present = [value for value in values if value is not None]
    for kind in (int, float):
        if all(isinstance(value, kind) and not isinstance(value, bool) for value in present):
            return values, kind
    return [None if value is None else getattr(value, "__name__", None) or str(value) for value in values], str
