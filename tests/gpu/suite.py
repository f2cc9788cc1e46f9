"""What a run of the GPU suite shares: its folder, its programs, and the outcome of each command, kept in the folder so that
what was collected on a machine with a GPU can be read on another."""
import glob
import json
import os
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Ends only if a GPU drains its records while it runs; no test on the CPU device.
GPU_ONLY = ("long_running",)
# Sizes at which kernels run long enough for meaningful times.
LARGE = {"saxpy": ["33554432"], "bicg": ["8192"], "transpose": ["8192"], "matmul": ["1024"], "hotspot": ["2048", "4"],
         "spmv": ["262144", "32"], "histogram": ["16777216", "256"], "syrk": ["512"], "scan": ["8388608"],
         "long_range_stencil": ["256", "192", "128"], "lattice_boltzmann": ["128"], "kmeans": ["262144"]}
# Files of an earlier run, by their endings.
LEFT_BEHIND = ("*.wlprof", "*.csv", "*.json", "*.times", "*.txt", "*.toml")


class Suite:
    """The folder of one run; `resume` keeps what an earlier call collected in it."""

    def __init__(self, work, device, programs=None, resume=False):
        self.warpline = os.path.join(HERE, "warpline")
        self.work = os.path.abspath(work)
        self.device = device
        self.failures = []
        self.outcomes = {}
        os.makedirs(self.work, exist_ok=True)
        if resume:
            if os.path.exists(self.path("outcomes", "json")):
                with open(self.path("outcomes", "json"), encoding="utf-8") as file:
                    self.outcomes = json.load(file)
        else:
            # What an earlier run left must not pass for this one's.
            for pattern in LEFT_BEHIND:
                for path in glob.glob(os.path.join(self.work, pattern)):
                    os.remove(path)
        names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(HERE, "examples", "*")))
        self.programs = [name for name in names if not programs or name in programs]

    def path(self, *parts):
        return os.path.join(self.work, ".".join(parts))

    def program(self, name):
        return os.path.join(HERE, "examples", name)

    def environment(self, **more):
        return {**os.environ, "WARPLINE_DEVICE": self.device, **more}

    def execute(self, command, limit, **more):
        """Exit code, seconds, output and the last lines of the errors of one command."""
        begin = time.monotonic()
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, cwd=self.work,
                                 env=self.environment(**more))
            code, output, errors = run.returncode, run.stdout, run.stderr
        except subprocess.TimeoutExpired:
            code, output, errors = 124, "", f"no end within {limit} s"
        except OSError as error:
            code, output, errors = 127, "", str(error)
        return {"code": code, "seconds": time.monotonic() - begin, "output": output,
                "errors": errors.strip().splitlines()[-9:]}

    def keep(self, key, outcome):
        """Remembers an outcome under its key."""
        self.outcomes[key] = outcome
        with open(self.path("outcomes", "json"), "w", encoding="utf-8") as file:
            json.dump(self.outcomes, file, indent=0)
        return outcome

    def profile(self, name, kind, options, limit=120, arguments=(), **more):
        """Profiles a program."""
        command = [self.warpline, "run", "-o", self.path(name, kind, "wlprof"), *options, "--", self.program(name), *arguments]
        return self.execute(command, limit, **more)

    def json(self, profile):
        shown = subprocess.run([self.warpline, "report", profile, "--format", "json"], capture_output=True, text=True)
        return json.loads(shown.stdout) if shown.returncode == 0 else None
