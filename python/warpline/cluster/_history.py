"""The recordings of `warpline record`, as files that workers read."""

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

    #: The user's name for it.
    shown: str
    commit: str
    #: Recordings with the same name and models form a history.
    group: tuple
    file: str

    def is_of(self, commit):
        """Returns whether the recording belongs to the commit, given by at least four characters of its name."""
        return len(commit) >= 4 and self.commit.startswith(commit)


def recorded(history, name, branch, store):
    """Returns the recordings in a store of `warpline record`, oldest first, and the notes of `warpline`. Profiles are
    written below ``store``, to which workers have access."""
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
    """Returns each recording with the previous one in its history; with a commit as baseline, each with the newest
    recording of that commit."""
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
