"""Counters of Nsight Compute against Warpline's figures: with caches kept between kernels, and emptied before each."""
import json
import os
import subprocess

# Nsight Compute's --cache-control, and Warpline's --l2-launches.
STATES = (("kept", "none"), ("flushed", "all"))


def count(ncu, metrics, control, program, environment, limit, more=()):
    """What `ncu --csv` prints; None, and why, where it does not count. Clocks are left as they are: no counter needs them locked."""
    command = [ncu, "--csv", "--clock-control", "none", "--cache-control", control, *more, "--metrics", metrics, *program]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if '"ID"' not in run.stdout:
        said = [line for line in (run.stdout + run.stderr).splitlines() if "ERR" in line]
        return None, said[0] if said else f"exit code {run.returncode}, no counters"
    return run.stdout, None


def compare(warpline, pairs, output):
    """The comparison of all programs; `pairs` are profiles and counters."""
    pairs = [(profile, counters) for profile, counters in pairs if os.path.exists(profile) and os.path.exists(counters)]
    if not pairs:
        return None
    command = [warpline, "validate", "--format", "json", "-o", output]
    for profile, counters in pairs:
        command += [profile, "--counters", counters]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return {"programs": [], "summary": [], "failed": run.stderr.strip()}
    with open(output, encoding="utf-8") as file:
        return json.load(file)


# Metric, the figure that is compared, and the goal.
GOALS = (("requests of global loads", "median", 0.1), ("sectors of global loads", "median", 0.1),
         ("requests of global stores", "median", 0.1), ("sectors of global stores", "median", 0.1),
         ("L1 hit rate of global loads", "mean", 2.0), ("L2 hit rate", "mean", 6.0),
         ("sectors read from DRAM", "mean", 10.0), ("sectors written to DRAM", "mean", 10.0))


def table(comparison):
    """Errors by metric, with the goals, as lines of Markdown."""
    goals = {metric: (figure, goal) for metric, figure, goal in GOALS}
    lines = ["| metric | kernels | median error | mean | worst | worst kernel | goal | kernels within it |",
             "|---|---:|---:|---:|---:|---|---|---:|"]
    for entry in comparison["summary"]:
        metric, unit = entry["metric"], "points" if entry["points"] else "%"
        goal, within = "", ""
        if metric in goals:
            figure, limit = goals[metric]
            goal = f"{figure} {limit} {unit}: {'met' if entry[figure] <= limit else '**missed**'}"
            errors = [abs(row["error"]) for program in comparison["programs"] for kernel in program["kernels"]
                      for row in kernel["figures"] if row["metric"] == metric]
            within = f"{sum(error <= limit for error in errors)} of {len(errors)}"
        lines.append(f"| {metric} | {entry['kernels']} | {entry['median']:.3f} {unit} | {entry['mean']:.3f} | "
                     f"{entry['worst']:.3f} | `{entry['worst_kernel']}` | {goal} | {within} |")
    notes = [f"{program['profile']}: {note}" for program in comparison["programs"] for note in program["notes"]]
    if comparison.get("failed"):
        notes.append(comparison["failed"])
    return lines + [""] + [f"- {note}" for note in notes]
