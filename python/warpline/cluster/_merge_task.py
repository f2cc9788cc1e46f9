"""A node of the tree of merges.

``warpline merge`` gives the same bytes for any order and any grouping, so the tree's shape does not matter. In the
merged profile, it reports the profiles that it cannot read, by the names of their files. Therefore, a node passes these
names to it, and passes to its parent the profiles that have no other problems."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from ._errors import ClusterError
from ._outcome import UNREADABLE, Outcome, of_record, reason
from ._task import Command, Input, Refused, Unreadable, perform, place_of

_OUTPUT = "merged.wlprof"
_USAGE, _PARTIAL = 2, 7


@dataclass(frozen=True)
class _Member:
    """A member of a node: the user's name for it, its path, its checksum if known, the name that the program sees, and
    whether other nodes reported it."""

    called: str
    path: str
    sha256: str = ""
    name: str = ""
    reported: bool = False


def merge_files(site, paths, first):
    """Merges profiles. Profiles that cannot be read, or that do not match the first readable one of ``first`` (paths),
    are reported."""
    return _merge(site, [_file(path) for path in paths], first)


def merge_outcomes(children, site, first):
    """Merges the results of other nodes. A child reports the profiles that it excluded."""
    results = [(number, child) for number, child in enumerate(children) if child.key]
    unread = tuple(path for child in children for path in child.unread)
    if not results:
        return Outcome(unread=unread)
    if len(results) == 1 and not unread:
        return replace(results[0][1], failed=())
    members = [
        _Member(f"result {child.key[:12]}", place_of(site, child.key, child.suffix), child.sha256, "result.wlprof") for _, child in results
    ]
    merged = _merge(site, [*members, *(replace(_file(path), reported=True) for path in unread)], first)
    failed = []
    for at, code, why in merged.failed:
        if at >= len(results):
            continue
        if code == UNREADABLE:
            raise ClusterError(f"a result was damaged in the store after it was made ({why}); the same call again makes it anew")
        failed.append((results[at][0], code, why))
    left = [child for number, child in results if number not in {at for at, _, _ in failed}]
    # A single remaining profile is copied without any change.
    alone = len(left) == 1 and not unread
    return replace(left[0] if alone else merged, failed=tuple(failed), unread=())


def _file(path):
    return _Member(path, path, name=Path(path).name)


def _merge(site, members, first):
    numbered = dict(enumerate(members))
    failed, sorted_out = {}, False
    while numbered:
        try:
            return _one(site, numbered, failed)
        except Unreadable as error:
            gone = [at for at, member in numbered.items() if member.path == error.path]
            found = {at: (UNREADABLE, str(error)) for at in gone}
        except Refused as error:
            found = _strangers(site, numbered, first) if error.code == _USAGE else _unreadable(site, numbered)
            if not found or sorted_out:
                found = {at: _why(error, numbered) for at in numbered}
            sorted_out = error.code == _USAGE
        failed |= found
        for at in found:
            del numbered[at]
    unread = tuple(members[at].path for at, (code, _) in failed.items() if code == UNREADABLE and Path(members[at].path).exists())
    return Outcome(failed=_listed(failed), unread=unread)


def _unreadable(site, numbered):
    """Returns the profiles that cannot be read even alone."""
    found = {at: _refusal(site, {at: member}) for at, member in numbered.items()}
    return {at: why for at, why in found.items() if why}


def _strangers(site, numbered, first):
    """Returns the profiles that do not match the first readable one of all."""
    model = next((one for one in map(_file, first) if _refusal(site, {0: one}) is None), next(iter(numbered.values())))
    others = {at: member for at, member in numbered.items() if member.path != model.path}
    found = {at: _refusal(site, {0: model, 1: member}) for at, member in others.items()}
    return {at: why for at, why in found.items() if why and why[0] == _USAGE}


def _refusal(site, numbered):
    try:
        _one(site, numbered, {})
    except (Refused, Unreadable) as error:
        return _why(error, numbered)
    return None


def _one(site, numbered, failed):
    """Merges these profiles; returns the result, and the profiles that it excluded."""
    command, names = _command(numbered)
    record, reused = perform(site, command)
    failed = dict(failed)
    if record["exit_code"] == _PARTIAL:
        positions = list(numbered)
        for line in record["said"].splitlines():
            named = re.match(r"(?:warpline: )?(\d+)/", line)
            if named and int(named[1]) < len(positions):
                failed[positions[int(named[1])]] = (UNREADABLE, reason(line, names, _PARTIAL))
    return of_record(record, reused, command, names, _listed(failed))


def _listed(failed):
    return tuple((at, *failed[at]) for at in sorted(failed))


def _why(error, numbered):
    if isinstance(error, Unreadable):
        return UNREADABLE, str(error)
    return error.code, reason(error.said, _command(numbered)[1], error.code)


def _command(numbered):
    members = list(numbered.values())
    width = len(str(len(members)))
    inputs = tuple(Input(f"{at:0{width}}/{member.name}", member.path, member.sha256) for at, member in enumerate(members))
    arguments = ("merge", *(one.name for one in inputs), "--threads", "1", "-o", _OUTPUT)
    command = Command(arguments, inputs, _OUTPUT, accepted=(0, _PARTIAL))
    return command, [(one.name, member.called) for one, member in zip(inputs, members)]
