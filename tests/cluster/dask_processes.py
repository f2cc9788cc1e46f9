"""A scheduler and workers as processes of their own, that can be killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

#: Machines may be busy.
DEADLINE_SECONDS = 600


class Processes:
    """A scheduler at a port of its own, with a scheduler file, and two workers that are started again when they die."""

    def __init__(self, folder):
        self.file = Path(folder, "scheduler.json")
        self._folder, self._scheduler, self._workers = folder, None, []
        self.start()

    def _text(self):
        return self.file.read_text() if self.file.exists() else ""

    def start(self):
        """Starts what does not run. A scheduler comes back at another port and writes the file anew; until then it names the one before."""
        before = self._text()
        self._scheduler = self._spawn("dask_scheduler", "--port", 0, "--no-dashboard", "--scheduler-file", self.file)
        wait(lambda: self._text() != before)
        common = ["--scheduler-file", self.file, "--nthreads", 1, "--nworkers", 1, "--memory-limit", 0, "--no-dashboard"]
        self._workers = [self._spawn("dask_worker", *common, "--local-directory", self._folder) for _ in range(2)]

    def _spawn(self, module, *arguments):
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.{module}", *map(str, arguments)]
        environment = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "critical"}
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self._folder)

    def kill_worker(self, random):
        """Kills the process that works under one of the nannies, which starts another."""
        nanny = psutil.Process(random.choice(self._workers).pid)
        with contextlib.suppress(psutil.Error):
            for one in nanny.children():
                # Not the tracker of Python's own resources.
                if "spawn_main" in " ".join(one.cmdline()):
                    one.kill()

    def kill_scheduler(self):
        """Kills the scheduler; workers notice and end."""
        self._scheduler.kill()
        self._scheduler.wait()
        for one in self._workers:
            end(one)

    def close(self):
        """Ends everything."""
        for one in [*self._workers, self._scheduler]:
            end(one)


def end(process):
    """Ends a process and what it started, at once."""
    with contextlib.suppress(psutil.Error):
        below = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
        for one in below:
            with contextlib.suppress(psutil.Error):
                one.kill()
    process.wait()


def wait(condition):
    """Until it holds."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
