#!/usr/bin/env python3
"""Runs the benchmarks and compares them with the recorded run: `make bench`, `make bench RECORD=1`.

Figures are processor times per unit of work, so that other programs on the machine count little. A figure is reported
as slower if it exceeds the recorded one by more than the noise: the spread of the runs of both sides, at least 10 %.
Exit code 5 if a figure is slower, as of `warpline gate`.
"""

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Times of one machine mean nothing on another, so the file is not part of the repository.
RECORDED = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "bench.json"
BENCHES = ["analyzer", "hierarchy", "device", "prediction"]
# Differences of less are not reported, however equal the runs were: the same binary differs by as much on an idle machine.
LEAST_NOISE = 0.10
THRESHOLD_BREACHED = 5


def figures(bench, text):
    """Returns the figures that a benchmark printed, by name; less is faster."""
    found = {}
    for line in text.splitlines():
        if match := re.match(r"(.{20,}?)\s+median\s+([\d.]+) M/s", line):
            found[f"{bench}: {match[1].strip()}, us each"] = 1 / float(match[2])
        elif match := re.match(r"(\w+)\s+[\d.]+\s+[\d.]+ M\s+([\d.]+)$", line):
            found[f"{bench}: {match[1]}, ns each"] = float(match[2])
        elif match := re.match(r"\d+ configurations, ([\d.]+) ms each", line):
            found[f"{bench}: configuration, ms each"] = float(match[1])
        elif bench == "device" and re.match(r"\w+\s+(-|[\d.]+)\s+[\d.]+\s+[\d.]+\s", line):
            name, _, _, native, _, records, _, run, *_ = line.split()
            for what, value in [("native", native), ("records", records), ("run", run)]:
                found[f"{bench}: {name} {what}, s"] = float(value)
    return found


def measure(runs, arguments):
    """Runs all benchmarks several times and returns the values of each figure."""
    values = {}
    for _ in range(runs):
        for bench in BENCHES:
            command = [os.environ.get("CARGO", "cargo"), "bench", "--locked", "--bench", bench, *arguments]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
            print(done.stdout, end="", flush=True)
            for name, value in figures(bench, done.stdout).items():
                values.setdefault(name, []).append(value)
    return values


def processor():
    """Returns the processor's name."""
    names = re.findall(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    return names[0] if names else "unknown"


def spread(values):
    """Returns the distance of the slowest run from the median, relative to the median."""
    middle = statistics.median(values)
    return (max(values) - middle) / middle if middle else 0.0


def compare(before, after):
    """Returns a line for each figure that became slower beyond noise, the largest change first."""
    slower = []
    for name in before.keys() & after.keys():
        old, new = statistics.median(before[name]), statistics.median(after[name])
        noise = max(LEAST_NOISE, spread(before[name]) + spread(after[name]))
        if old > 0 and new > old * (1 + noise):
            slower.append((new / old, f"slower: {name}: {old:.4g} -> {new:.4g} ({new / old:.2f} times, noise {noise:.0%})"))
    return [line for _, line in sorted(slower, reverse=True)]


def main():
    runs = int(os.environ.get("RUNS") or 3)
    after = measure(runs, sys.argv[1:])
    if os.environ.get("RECORD"):
        document = {"processor": processor(), "figures": after}
        RECORDED.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"bench: recorded {len(after)} figures of {runs} runs in {RECORDED}")
        return 0
    if not RECORDED.is_file():
        print(f"bench: no {RECORDED} to compare with; `make bench RECORD=1` makes it on this machine")
        return 0
    document = json.loads(RECORDED.read_text(encoding="utf-8"))
    if document["processor"] != processor():
        print(f"bench: {RECORDED} was recorded on {document['processor']}, this is {processor()}: not compared")
        return 0
    before = document["figures"]
    slower = compare(before, after)
    print("\n".join(slower) or "bench: nothing is slower than recorded beyond noise")
    for name in sorted(before.keys() - after.keys()):
        print(f"bench: recorded, but not measured: {name}")
    return THRESHOLD_BREACHED if slower else 0


if __name__ == "__main__":
    sys.exit(main())
