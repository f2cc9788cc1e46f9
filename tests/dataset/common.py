"""What the tests share: the folder that `tests/commands/dataset.rs` made, and the profile in it."""

import functools
import json
import os
import subprocess
from pathlib import Path

FOLDER = Path(os.environ["WARPLINE_TEST_FOLDER"])
DATASET = FOLDER / "ds"
PROGRAM = Path(os.environ["WARPLINE_BIN"]) / "warpline"


def warpline(*arguments, text=True):
    """Runs the program; the finished process."""
    return subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=FOLDER, capture_output=True, text=text)


def report(file, format, *more):
    """A report as bytes."""
    done = warpline("report", file, "--format", format, *more, text=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.lru_cache(None)
def profile(file="demo.wlprof"):
    """A profile's JSON."""
    return json.loads(report(file, "json"))
