#!/usr/bin/env python3
"""Runs the bundle on a machine with a GPU, and writes what came out: hooks alone, equality with the CPU device, overhead,
fidelity against hardware counters, and the GPU's caches. Needs the NVIDIA driver and python3; counters need Nsight Compute.

    run.py [RESULT.md] [--sections hooks,programs,fidelity,caches] [--programs a,b] [--work FOLDER] [--pretend]
"""
import argparse
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import time

import equality
import fidelity
import machine
import overhead

HERE = os.path.dirname(os.path.abspath(__file__))
SECTIONS = ("hooks", "programs", "fidelity", "caches")
# Ends only if a GPU drains its records while it runs; says nothing on the CPU device.
GPU_ONLY = ("long_running",)


class Run:
    """One run of the suite: where things are, and the result as it grows."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.warpline = os.path.join(HERE, "warpline")
        self.work = os.path.abspath(arguments.work)
        os.makedirs(self.work, exist_ok=True)
        # What an earlier run left must not pass for this one's.
        for old in ("*.wlprof", "*.csv", "*.json", "*.times"):
            for path in glob.glob(os.path.join(self.work, old)):
                os.remove(path)
        self.device = "cpu" if arguments.pretend else "gpu"
        self.failures = []
        self.lines = []
        names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(HERE, "examples", "*")))
        wanted = arguments.programs.split(",") if arguments.programs else names
        self.programs = [name for name in names if name in wanted]

    def say(self, *lines):
        for line in lines:
            print(line, flush=True)
            self.lines.append(line)
        with open(self.arguments.result, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")

    def path(self, *parts):
        return os.path.join(self.work, ".".join(parts))

    def program(self, name):
        return os.path.join(HERE, "examples", name)

    def environment(self, **more):
        return {**os.environ, "WARPLINE_DEVICE": self.device, **more}

    def execute(self, command, limit, **more):
        """Exit code, seconds and the last line of the errors."""
        begin = time.monotonic()
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, cwd=self.work,
                                 env=self.environment(**more))
            code, errors = run.returncode, run.stderr
        except subprocess.TimeoutExpired:
            code, errors = 124, f"no end within {limit} s"
        except OSError as error:
            code, errors = 127, str(error)
        return code, time.monotonic() - begin, errors.strip().splitlines()[-1:]

    def profile(self, name, kind, options, limit=120, **more):
        """Profiles a program; the profile's path and how it went."""
        output = self.path(name, kind, "wlprof")
        command = [self.warpline, "run", "-o", output, *options, "--", self.program(name)]
        return output, self.execute(command, limit, **more)

    def json(self, profile):
        shown = subprocess.run([self.warpline, "report", profile, "--format", "json"], capture_output=True, text=True)
        return json.loads(shown.stdout) if shown.returncode == 0 else None


def hooks(run):
    run.say("## Hooks alone", "", "```")
    for arguments in (["256", "8"], ["16384", "8", "0"]):
        done = subprocess.run([os.path.join(HERE, "hook_bench"), *arguments], capture_output=True, text=True, timeout=180)
        lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines()
        run.say(*lines)
        if not lines or "ok" not in lines[-1]:
            run.failures.append("hook_bench " + " ".join(arguments))
    run.say("```", "")


def timed(run, name, kind, times, repeat):
    """Runs something several times; the best kernel times and wall-clock seconds, and the last outcome."""
    all_times, seconds, outcome = [], [], None
    for _ in range(run.arguments.repeat):
        if os.path.exists(times):
            os.remove(times)
        outcome = repeat()
        seconds.append(outcome[1])
        if os.path.exists(times):
            with open(times, encoding="utf-8") as file:
                all_times.append(overhead.read_times(file.read()))
        if outcome[0] != 0:
            run.failures.append(f"{name}, {kind}: exit code {outcome[0]} {outcome[2]}")
            break
    return overhead.best(all_times), min(seconds), outcome


def on_cpu_device(run, model):
    """Profiles every program on the CPU device, several at once: nothing is timed there."""
    def one(name, state):
        options = ["--device", "cpu", "--gpu", model, "--threads", "1", "--l2-launches", state]
        return name, run.profile(name, f"cpu-{state}", options, 400)[1]

    wanted = [name for name in run.programs if name not in GPU_ONLY]
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        jobs = [pool.submit(one, name, state) for name in wanted for state in ("kept", "flushed")]
        for job in jobs:
            name, (code, _, errors) = job.result()
            if code:
                run.failures.append(f"{name} on the CPU device: exit code {code} {errors}")


def programs(run, model):
    """Equality and overhead."""
    on_cpu_device(run, model)
    rows, equal, traced_ratios, counted_ratios, details = [], [], [], [], []
    sites = same = 0
    for name in run.programs:
        times = run.path(name, "times")
        environment = {"WARPLINE_GPU_TIMES": times}
        native, wall_native, _ = timed(run, name, "native", times, lambda: run.execute(
            [run.program(name)], 60, WARPLINE="0", **environment))
        options = ["--device", run.device, "--gpu", model]
        traced, wall_traced, _ = timed(run, name, "traced", times, lambda: run.profile(
            name, "gpu-kept", options, **environment)[1])
        profiles = {"records": run.json(run.path(name, "gpu-kept", "wlprof"))}
        counted, wall_counted = {}, float("nan")
        if not run.arguments.pretend:
            counted, wall_counted, _ = timed(run, name, "counted", times, lambda: run.profile(
                name, "counted", ["--mode", "counters", *options], **environment)[1])
            profiles["counts"] = run.json(run.path(name, "counted", "wlprof"))
        requests = sum(metrics["requests"] for kernel in (profiles["records"] or {"kernels": []})["kernels"]
                       for metrics in kernel["metrics"].values())
        wall = {"native": wall_native, "counted": wall_counted, "traced": wall_traced}
        rows.append(overhead.row(name, native, traced, counted, wall, requests))
        traced_ratios += overhead.ratios(native, traced).values()
        counted_ratios += overhead.ratios(native, counted).values()
        if name in GPU_ONLY:
            continue
        cpu = run.json(run.path(name, "cpu-kept", "wlprof"))
        for kind, profile in profiles.items():
            if cpu is None or profile is None:
                run.failures.append(f"{name}, {kind}: no profile to compare")
                continue
            result = equality.compare(cpu, profile)
            sites += result["sites"]
            same += result["equal"]
            equal.append(f"| {name} | {kind} | {result['sites']} | {result['equal']} | {len(result['errors'])} | "
                         f"{len(result['differences'])} |")
            details += [f"{name}, {kind}: {line}" for line in result["errors"] + result["differences"][:10]]
            if result["errors"]:
                run.failures.append(f"{name}, {kind}: {len(result['errors'])} sites with other lanes or bytes")
    run.say("## Equality with the CPU device", "",
            f"{same} of {sites} sites have every count equal ({100 * same / max(sites, 1):.2f} %).", "",
            "| program | from | sites | all counts equal | other lanes or bytes | other differences |",
            "|---|---|---:|---:|---:|---:|", *equal, "")
    if details:
        run.say("```", *details, "```", "")
    run.say("## Overhead", "", f"Shortest of {run.arguments.repeat} runs; kernel times by events.", "", overhead.HEADER, *rows, "",
            f"Median over kernels: counted {overhead.medians(counted_ratios):.2f} times native (goal 3), traced "
            f"{overhead.medians(traced_ratios):.2f} times (goal 10).", "")


def counters(run, model):
    """Fidelity."""
    run.say("## Fidelity against hardware counters", "")
    ncu = shutil.which("ncu")
    if ncu is None:
        run.say("Nsight Compute (`ncu`) is not there: not measured.", "")
        return
    metrics = subprocess.run([run.warpline, "validate", "--list-counters"], capture_output=True, text=True).stdout.strip()
    names = [name for name in run.programs if name not in GPU_ONLY]
    for state, control in fidelity.STATES:
        for name in names:
            text, why = fidelity.count(ncu, metrics, control, run.program(name), run.environment(WARPLINE="0"), 240)
            if text is None:
                run.say(f"- {name}, caches {state}: no counters: {why}")
                continue
            with open(run.path(name, state, "csv"), "w", encoding="utf-8") as file:
                file.write(text)
            for place in ("gpu", "cpu"):
                options = ["--device", run.device if place == "gpu" else "cpu", "--gpu", model, "--l2-launches", state]
                if not os.path.exists(run.path(name, f"{place}-{state}", "wlprof")):
                    run.profile(name, f"{place}-{state}", options, 400)
        for place, label in (("gpu", "the GPU's trace"), ("cpu", "the CPU device's trace")):
            pairs = [(run.path(name, f"{place}-{state}", "wlprof"), run.path(name, state, "csv")) for name in names]
            comparison = fidelity.compare(run.warpline, pairs, run.path("fidelity", place, state, "json"))
            run.say(f"### {label}, caches {state}", "")
            run.say(*(fidelity.table(comparison) if comparison else ["nothing to compare"]), "")


def caches(run, model):
    """The GPU's own caches."""
    run.say("## Caches by pointer chases", "")
    command = [run.warpline, "validate", "--device", run.device, "--gpu", model, "--program", os.path.join(HERE, "chases")]
    if not run.arguments.pretend:
        command += ["--curves", run.path("curves", "toml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    run.say("```", *(done.stdout or done.stderr).strip().splitlines(), "```", "")
    if done.returncode:
        run.failures.append(f"warpline validate: exit code {done.returncode}")
    elif not run.arguments.pretend:
        run.say(f"Curves for the model's file: {run.path('curves', 'toml')}", "")


def model_of(run):
    """The model that a run on this GPU takes."""
    profile, outcome = run.profile("saxpy", "first", ["--device", run.device])
    document = run.json(profile) if outcome[0] == 0 else None
    if document is None:
        sys.exit(f"saxpy does not run here: exit code {outcome[0]}, {outcome[2]}")
    return document["run"]["models"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", nargs="?", default="result.md")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--programs")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", default="work")
    parser.add_argument("--pretend", action="store_true", help="the CPU device in the GPU's place, to try this script")
    arguments = parser.parse_args()
    arguments.result = os.path.abspath(arguments.result)
    run = Run(arguments)
    wanted = arguments.sections.split(",")
    run.say("# Warpline on a GPU", "", *machine.describe(), f"date: {time.strftime('%Y-%m-%d', time.gmtime())}", "")
    if arguments.pretend:
        run.say("**Pretended**: the CPU device stood in for the GPU; no figure here is one of a GPU.", "")
    if "hooks" in wanted and not arguments.pretend:
        hooks(run)
    model = model_of(run)
    run.say(f"Model: {model}", "")
    if "programs" in wanted:
        programs(run, model)
    if "fidelity" in wanted:
        counters(run, model)
    if "caches" in wanted:
        caches(run, model)
    run.say("## Failures", "", *([f"- {failure}" for failure in run.failures] or ["none"]))
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
