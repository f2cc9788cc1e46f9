#!/usr/bin/env python3
"""Runs the bundle on a machine with a GPU, and writes what came out: hooks alone, equality with the CPU device, overhead,
fidelity against hardware counters, block shapes, and the GPU's caches. Needs the NVIDIA driver and python3; counters need
Nsight Compute.

    run.py [RESULT.md]                      everything, here
    run.py --collect SECONDS                only what needs the GPU, as far as the time goes; called again, it goes on
    run.py --collected [RESULT.md]          the report of what was collected, on any machine
"""
import argparse
import concurrent.futures
import os
import sys
import time

import collect
import equality
import fidelity
import machine
import overhead
import suite


class Report:
    """The result as it grows."""

    def __init__(self, path):
        self.path, self.lines = path, []

    def say(self, *lines):
        for line in lines:
            print(line, flush=True)
            self.lines.append(line)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")


def hooks(run, report):
    done = {key: outcome for key, outcome in run.outcomes.items() if key.startswith("hook_bench")}
    if not done:
        return
    report.say("## Hooks alone", "", "```")
    for key, outcome in done.items():
        lines = outcome["output"].strip().splitlines() or outcome["errors"]
        report.say(*lines)
        if not lines or "ok" not in lines[-1]:
            run.failures.append(key)
    report.say("```", "")


def on_cpu_device(run, model, states):
    """Profiles every program on the CPU device, several at once: nothing is timed there."""
    def one(name, state):
        options = ["--device", "cpu", "--gpu", model, "--threads", "1", "--l2-launches", state]
        return name, run.profile(name, f"cpu-{state}", options, 400)

    wanted = [(name, state) for name in run.programs if name not in suite.GPU_ONLY for state in states
              if not os.path.exists(run.path(name, f"cpu-{state}", "wlprof"))]
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        for job in [pool.submit(one, name, state) for name, state in wanted]:
            name, outcome = job.result()
            if outcome["code"]:
                run.failures.append(f"{name} on the CPU device: exit code {outcome['code']} {outcome['errors']}")


def rounds(run, label, form):
    """All outcomes of a program in one form."""
    found = []
    while f"{label} {form} {len(found)}" in run.outcomes:
        found.append(run.outcomes[f"{label} {form} {len(found)}"])
    return found


def equal(run, report):
    """Equality of every program that was profiled on both."""
    rows, details = [], []
    sites = same = 0
    for name in run.programs:
        for form, kind in (("traced", "gpu-kept"), ("counted", "counted")):
            outcomes = rounds(run, name, form)
            bad = [outcome for outcome in outcomes if outcome["code"]]
            if bad:
                run.failures.append(f"{name}, {form}: exit code {bad[0]['code']} {bad[0]['errors']}")
            if not outcomes or name in suite.GPU_ONLY:
                continue
            cpu, gpu = (run.json(run.path(name, which, "wlprof")) for which in ("cpu-kept", kind))
            if cpu is None or gpu is None:
                run.failures.append(f"{name}, {form}: no profile to compare")
                continue
            result = equality.compare(cpu, gpu)
            sites += result["sites"]
            same += result["equal"]
            rows.append(f"| {name} | {form} | {result['sites']} | {result['equal']} | {len(result['errors'])} | "
                        f"{len(result['differences'])} |")
            details += [f"{name}, {form}: {line}" for line in result["errors"] + result["differences"][:10]]
            if result["errors"]:
                run.failures.append(f"{name}, {form}: {len(result['errors'])} sites with other lanes or bytes")
    report.say("## Equality with the CPU device", "",
               f"{same} of {sites} sites have every count equal ({100 * same / max(sites, 1):.2f} %).", "",
               "| program | form | sites | all counts equal | other lanes or bytes | other differences |",
               "|---|---|---:|---:|---:|---:|", *rows, "")
    if details:
        report.say("```", *details, "```", "")


def requests(profile):
    return sum(metrics["requests"] for kernel in (profile or {"kernels": []})["kernels"]
               for metrics in kernel["metrics"].values())


def costs(run, report, title, suffix):
    """Overhead of programs, at their own or at large sizes."""
    rows, ratios = [], {"counted": [], "traced": []}
    for name in run.programs:
        forms = {form: rounds(run, name + suffix, form) for form in ("native", "counted", "traced")}
        if not forms["native"]:
            continue
        times = {form: overhead.best([overhead.read_times(outcome["times"]) for outcome in outcomes if "times" in outcome])
                 for form, outcomes in forms.items()}
        wall = {form: min((outcome["seconds"] for outcome in outcomes), default=float("nan"))
                for form, outcomes in forms.items()}
        profile = run.json(run.path(name, f"gpu-kept{suffix}", "wlprof"))
        rows.append(overhead.row(name, times["native"], times["traced"], times["counted"], wall, requests(profile)))
        for form in ratios:
            ratios[form] += overhead.ratios(times["native"], times[form]).values()
    if rows:
        report.say(f"## {title}", "", "Shortest of the runs; kernel times by events.", "", overhead.HEADER, *rows, "",
                   f"Median over kernels: counted {overhead.medians(ratios['counted']):.2f} times native (goal 3), traced "
                   f"{overhead.medians(ratios['traced']):.2f} times (goal 10).", "")


def counters(run, report, model):
    """Fidelity."""
    for state, _ in fidelity.STATES:
        names = [name for name in run.programs if os.path.exists(run.path(name, state, "csv"))]
        for name in run.programs:
            outcome = run.outcomes.get(f"{name} ncu {state}")
            if outcome and outcome["code"]:
                report.say(f"- {name}, caches {state}: no counters: {outcome['errors']}")
        if not names:
            continue
        on_cpu_device(run, model, [state])
        for place, label in (("gpu", "the GPU's trace"), ("cpu", "the CPU device's trace")):
            pairs = [(run.path(name, f"{place}-{state}", "wlprof"), run.path(name, state, "csv")) for name in names]
            comparison = fidelity.compare(run.warpline, pairs, run.path("fidelity", place, state, "json"))
            if comparison:
                report.say(f"## Fidelity against hardware counters: {label}, caches {state}", "")
                report.say(*fidelity.table(comparison), "")


def shapes(run, report):
    """Block shapes' measured times; `warpline predict` has its own."""
    for kernel, *size in (collect.STENCIL, collect.LATTICE):
        outcome = run.outcomes.get(f"shapes {kernel}")
        if not outcome:
            continue
        lines = [line.split("\t") for line in outcome["output"].splitlines() if "\t" in line]
        if outcome["code"] or not lines:
            run.failures.append(f"shapes of {kernel}: exit code {outcome['code']} {outcome['errors']}")
            continue
        lines.sort(key=lambda line: float(line[1]))
        report.say(f"## Block shapes of `{kernel}`, {' x '.join(size)}", "",
                   f"{len(lines)} shapes; shortest of 3 launches, ms. Quickest and slowest:", "", "```",
                   *["\t".join(line) for line in lines[:12] + lines[-4:]], "```", "")


def caches(run, report):
    """The GPU's own caches."""
    outcome = run.outcomes.get("caches")
    if not outcome:
        return
    report.say("## Caches by pointer chases", "", "```", *(outcome["output"].strip().splitlines() or outcome["errors"]), "```", "")
    if outcome["code"]:
        run.failures.append(f"warpline validate: exit code {outcome['code']}")
    else:
        report.say(f"Curves for the model's file: {run.path('curves', 'toml')}", "")


def model_of(run):
    """The model that a run on this GPU takes, from the first profile."""
    outcome = run.profile("saxpy", "first", ["--device", run.device])
    document = run.json(run.path("saxpy", "first", "wlprof")) if outcome["code"] == 0 else None
    if document is None:
        sys.exit(f"saxpy does not run here: exit code {outcome['code']}, {outcome['errors']}")
    return document["run"]["models"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", nargs="?", default="result.md")
    parser.add_argument("--sections", default=",".join(collect.SECTIONS))
    parser.add_argument("--programs")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", default="work")
    parser.add_argument("--collect", type=float, metavar="SECONDS")
    parser.add_argument("--collected", action="store_true")
    parser.add_argument("--pretend", action="store_true", help="the CPU device in the GPU's place, to try this script")
    arguments = parser.parse_args()
    run = suite.Suite(arguments.work, "cpu" if arguments.pretend else "gpu",
                      arguments.programs and arguments.programs.split(","),
                      resume=arguments.collected or arguments.collect is not None)
    if not arguments.collected:
        seconds = float("inf") if arguments.collect is None else arguments.collect
        begin = time.monotonic()
        run.keep("machine", {"lines": [*machine.describe(), f"date: {time.strftime('%Y-%m-%d', time.gmtime())}"],
                             "model": model_of(run)})
        wanted = [section for section in arguments.sections.split(",") if not arguments.pretend or section in ("programs", "large")]
        collector = collect.Collector(run, run.outcomes["machine"]["model"], seconds - (time.monotonic() - begin))
        collector.all(wanted, arguments.repeat)
        if arguments.collect is not None:
            return 0
    if "machine" not in run.outcomes:
        sys.exit(f"{run.work}: nothing was collected here")
    report, model = Report(os.path.abspath(arguments.result)), run.outcomes["machine"]["model"]
    report.say("# Warpline on a GPU", "", *run.outcomes["machine"]["lines"], "")
    if arguments.pretend:
        report.say("**Pretended**: the CPU device stood in for the GPU; no figure here is one of a GPU.", "")
    report.say(f"Model: {model}", "")
    hooks(run, report)
    on_cpu_device(run, model, ["kept"])
    equal(run, report)
    costs(run, report, "Overhead", "")
    costs(run, report, "Overhead at large sizes", "-large")
    counters(run, report, model)
    shapes(run, report)
    caches(run, report)
    report.say("## Failures", "", *([f"- {failure}" for failure in run.failures] or ["none"]))
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
