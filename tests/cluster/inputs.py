"""Traces and profiles that the tests work on, and what one process makes of them."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from warpline._binaries import find

HERE = Path(__file__).parent


def warpline(*arguments, folder=None):
    """Runs one of the programs as a user would."""
    environment = {**os.environ, "PATH": f"{find('warpline').parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["warpline", *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 5, 7), f"{arguments}: {done.stderr}"
    return done


def warpline_ends(*arguments):
    """The exit code of a command."""
    return subprocess.run([find("warpline"), *map(str, arguments)], capture_output=True).returncode


class Inputs:
    """A folder with the traces and profiles of runs of one program with so many elements each."""

    def __init__(self, elements):
        self._folder = tempfile.TemporaryDirectory(prefix="warpline-cluster-")
        self.folder = Path(self._folder.name).resolve()
        program = self.folder / "program"
        subprocess.run([find("warpline-cc"), "-O2", "-g", HERE / "program.cu", "-o", program], check=True)
        self.traces, self.profiles = [], []
        for number, count in enumerate(elements):
            trace, profile = self.folder / f"run{number}.wltrace", self.folder / f"run{number}.wlprof"
            warpline("run", "--gpu", "a100", "--trace", trace, "-o", profile, "--", program, count)
            self.traces.append(str(trace))
            self.profiles.append(str(profile))

    def close(self):
        """Removes it."""
        self._folder.cleanup()

    def path(self, name):
        """Of a file of the test's own."""
        return self.folder / name

    def alone(self, output, *command, **files):
        """What one process makes, in a folder with these files under the names that the commands of a task have for them."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            for name, path in files.items():
                Path(folder, name.replace("_", ".")).symlink_to(path)
            warpline(*command, "-o", output, folder=folder)
            return Path(folder, output).read_bytes()

    def merged(self, paths):
        """What one process merges of profiles."""
        output = self.folder / "merged-alone.wlprof"
        warpline("merge", *paths, "-o", output)
        return output.read_bytes()


def python(*arguments, **environment):
    """Runs Python on something, with the search path of this one."""
    whole = {**os.environ, **environment}
    return subprocess.run([sys.executable, *map(str, arguments)], env=whole, capture_output=True, text=True, timeout=600)
