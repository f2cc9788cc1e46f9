"""The decision for each configuration, by two rules: hardware limits, and intervals of the modelled time."""

from __future__ import annotations

from typing import Optional

from ._figures import HOPELESS, WORTH, Row

#: The maximum ratio of measured to modelled time. It was 1.0 to 2.2 on an H100, in seven programs
#: (docs/benchmarks/2026-11-26-h100.md). Modelled times are lower bounds, without latencies.
SLACK = 2.2
#: The measurements for ``SLACK`` apply to kernels of at least this number of seconds; latencies and the launch dominate
#: shorter kernels.
SHORTEST = 8e-6


def decide(rows: list[Row], slack: float) -> None:
    """Decides each row that no limit has decided, using the row with the smallest upper bound."""
    open_rows = [row for row in rows if row["decision"] is None]
    best: Optional[int] = None
    for number, row in enumerate(rows):
        if row["decision"] is None and row["seconds_high"] is not None:
            if best is None or row["seconds_high"] < rows[best]["seconds_high"]:
                best = number
    for row in open_rows:
        row["decision"] = WORTH
        if best is None or row["seconds_low"] is None:
            row["reason"] = "no modelled time to compare" if row["seconds_low"] is None else None
            continue
        most = slack * rows[best]["seconds_high"]
        if row["seconds_low"] > max(most, SHORTEST):
            row["decision"] = HOPELESS
            row["reason"] = (
                f"modelled time: at least {row['seconds_low'] * 1e6:.3g} us, configuration {best} at most {most * 1e6:.3g} us"
                f" ({slack:g} x {rows[best]['seconds_high'] * 1e6:.3g})"
            )


def rule_out(row: Row, reason: Optional[str]) -> bool:
    """Marks a row that exceeds a limit or cannot be compiled; returns false if there is no such reason."""
    if reason is not None:
        row["decision"], row["reason"] = HOPELESS, reason
    return reason is not None
