"""Compares the stated uncertainty of predicted loads with errors: `python3 benches/calibration.py FOLDER [MODEL…]`.

Each program of examples/ that the calibration did not use is built, run with empty caches before each launch, and the recorded launch
of each of its kernels is predicted from the run's own profile. lattice_boltzmann is also run in the block shapes of SHAPES. FOLDER
receives programs, profiles and `calibration.csv`."""
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: No programs; several kernels by design; and the 25-point stencil, which is among the calibrated sets.
LEFT_OUT = {"common", "cases", "triton", "sweep", "tutorial", "custom_analysis", "long_range_stencil"}
#: Arguments of programs whose defaults take long.
ARGUMENTS = {"raytracer": ["48", "12"]}
SHAPES = ["256x1x1", "128x2x1", "64x4x1", "32x8x1", "32x4x1", "16x16x1", "16x4x4", "32x2x4", "8x8x4", "8x4x8"]
COLD = ["--reuse", "off", "--l2-copies", "cold", "--l2-launches", "flushed"]
SECTOR = 32


def warpline(*arguments):
    program = Path(os.environ.get("WARPLINE_BIN", "")) / "warpline"
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def build(name, folder):
    """The executable of an example, or nothing."""
    sources = sorted(one for one in (EXAMPLES / name).iterdir() if one.suffix in (".cu", ".cpp"))
    program = folder / name
    if not program.exists():
        done = warpline("cc", "-O3", "-g", "-arch=sm_80", *sources, "-o", program)
        if done.returncode != 0:
            print(f"{name}: {done.stderr.splitlines()[-1]}", file=sys.stderr)
            return None
    return program


def profile(program, model, arguments, output):
    """The JSON of a run."""
    if not output.exists():
        warpline("run", "--gpu", model, *COLD, "-o", output, "--", program, *arguments)
    return json.loads(warpline("report", output, "--format", "json").stdout)


def loads(launch):
    """Bytes that a launch loaded from L2 and DRAM, by the simulation."""
    space = launch["metrics"].get("global", {})
    return SECTOR * space.get("l2", {}).get("load_lookups", 0), SECTOR * space.get("dram", {}).get("read_sectors", 0)


def compare(name, kernel, model, predicted, launch):
    """Rows of a configuration: predicted and simulated bytes, and the error in standard errors."""
    for level, simulated in zip(("l2", "dram"), loads(launch)):
        bytes_, sigma = predicted[f"{level}_load_bytes"], predicted.get(f"{level}_load_uncertainty")
        if sigma and bytes_ and simulated:
            errors = abs(bytes_ - simulated) / bytes_ / sigma
            block = "x".join(map(str, predicted["block"]))
            yield [name, kernel, model, block, level, bytes_, simulated, sigma, round(errors, 3), predicted["affine_share"]]


def recorded(name, model, output, document):
    """Each kernel's launch that the prediction starts from."""
    for kernel in document["kernels"]:
        done = warpline("predict", output, "--kernel", f"^{re.escape(kernel['name'])}$", "--format", "json")
        if done.returncode != 0:
            continue
        found = json.loads(done.stdout)
        number = re.search(r"those of launch (\d+)", " ".join(found["assumptions"]))
        launches = [one for one in kernel["launches"] if number and one["id"] == int(number[1])]
        predicted = [one for one in found["configurations"] if one["recorded"]]
        if launches and predicted:
            yield from compare(name, kernel["name"], model, predicted[0], launches[0])


def shapes(name, model, program, folder):
    """Block shapes that are predicted from one run, against runs of them; prints where the fastest one is ranked."""
    first = folder / f"{name}-{model}.wlprof"
    found = json.loads(warpline("predict", first, "--block", ",".join(SHAPES), "--format", "json").stdout)
    ranking, times = [], {}
    for one in found["configurations"]:
        x, y, z = one["block"]
        document = profile(program, model, ["48", x, y, z], folder / f"{name}-{model}-{x}x{y}x{z}.wlprof")
        kernel = document["kernels"][0]
        if kernel["launches"][0]["block"] == [x, y, z]:
            ranking.append((x, y, z))
            times[x, y, z] = kernel["estimates"][0]["seconds"] / kernel["estimates"][0]["launches"]
            yield from compare(name, kernel["name"], model, one, kernel["launches"][0])
    best = min(times, key=times.get)
    print(f"{name} on {model}: the fastest of {len(times)} shapes is number {1 + ranking.index(best)} of the prediction")


def main(folder, *models):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in sorted(one.name for one in EXAMPLES.iterdir() if one.is_dir() and one.name not in LEFT_OUT):
        program = build(name, folder)
        for model in models or ("v100", "a100", "h100"):
            if program is None:
                continue
            output = folder / f"{name}-{model}.wlprof"
            document = profile(program, model, ARGUMENTS.get(name, []), output)
            rows += recorded(name, model, output, document)
            if name == "lattice_boltzmann":
                rows += shapes(name, model, program, folder)
    with open(folder / "calibration.csv", "w", newline="") as file:
        csv.writer(file).writerows([["program", "kernel", "model", "block", "level", "predicted", "simulated", "sigma", "errors", "affine"], *rows])
    for level in ("l2", "dram"):
        errors = [row[8] for row in rows if row[4] == level]
        inside = [sum(one <= limit for one in errors) for limit in (1, 2)]
        print(f"{level}: {len(errors)} values, {inside[0]} within one standard error, {inside[1]} within two, largest {max(errors):.1f}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
