"""What `warpline record` kept, as files that workers read."""

import json
import os
import subprocess
from dataclasses import dataclass

from .._binaries import find
from ._errors import ClusterError, Damaged, Misused

_USAGE, _UNREADABLE, _NOTHING, _PARTIAL = 2, 3, 4, 7


@dataclass(frozen=True)
class Recorded:
    """A recording whose profile can be read."""

    #: What a user calls it.
    shown: str
    commit: str
    #: Recordings of one name and models are a history.
    group: tuple
    file: str

    def is_of(self, commit):
        """Whether it is of the commit, by at least four letters of its name."""
        return len(commit) >= 4 and self.commit.startswith(commit)


def recorded(history, name, branch, store):
    """The recordings of a store of `warpline record`, oldest first, and what `warpline` had to note; profiles are written below ``store``,
    which workers see."""
    command = [find("warpline"), "history", "--store", os.fspath(history), "--profiles", store.folder / "recordings", "--format", "json"]
    for option, value in (("--name", name), ("--branch", branch)):
        if value is not None:
            command += [f"{option}={value}"]
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True)
    lines = [line.removeprefix("warpline: ") for line in done.stderr.decode(errors="replace").splitlines()]
    if done.returncode not in (0, _PARTIAL):
        kind = {_USAGE: Misused, _NOTHING: Misused, _UNREADABLE: Damaged}.get(done.returncode, ClusterError)
        raise kind(f"{history}: {' '.join(lines) or f'exit code {done.returncode}'}")
    rows = json.loads(done.stdout)["recordings"]
    found = [_recorded(row) for row in rows if row["file"]]
    return found, [line.removeprefix("note: ") for line in lines]


def _recorded(row):
    commit = row["commit"] or row["record"]
    return Recorded(f"{row['name']}@{commit[:10]}", commit, (row["name"], *row["models"]), row["file"])


def pairs(recordings, baseline):
    """Each recording with the one before it in its history; with a commit as baseline, each with the newest recording of that."""
    last, found = {}, []
    if baseline is not None:
        last = {one.group: one for one in recordings if one.is_of(baseline)}
        if not last:
            raise Misused(f"baseline {baseline}: no recording is of such a commit")
        if len({one.commit for one in last.values()}) > 1:
            raise Misused(f"baseline {baseline}: more than one commit begins so")
        return [(last[one.group], one) for one in recordings if one.group in last and one != last[one.group]]
    for one in recordings:
        if one.group in last:
            found.append((last[one.group], one))
        last[one.group] = one
    if not found:
        raise Misused("a comparison needs two recordings of one name and the same models")
    return found
