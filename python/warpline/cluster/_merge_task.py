"""A node of the tree of merges."""

from dataclasses import replace

from ._errors import ClusterError
from ._outcome import UNREADABLE, Outcome, of_record, reason
from ._task import Command, Input, Refused, Unreadable, perform, place_of

_OUTPUT = "merged.wlprof"


def merge_files(site, paths, first):
    """Merges profiles. Those that cannot be read, or do not fit the first that can (of ``first``, paths), are told and left out."""
    return _merge(site, [(path, path, "") for path in paths], first)


def merge_outcomes(children, site, first):
    """Merges what other nodes have made. What a child left out, the child tells."""
    there = [(number, child) for number, child in enumerate(children) if child.key]
    if len(there) == 1:
        return replace(there[0][1], failed=(), notes=())
    members = [(f"result {child.key[:12]}", place_of(site, {"key": child.key}, child.suffix), child.sha256) for _, child in there]
    merged = _merge(site, members, first)
    for _, code, why in merged.failed:
        if code == UNREADABLE:
            raise ClusterError(f"a result was damaged in the store after it was made ({why}); the same call again makes it anew")
    failed = tuple((there[at][0], code, why) for at, code, why in merged.failed)
    left = [child for number, child in there if number not in {at for at, _, _ in failed}]
    # One that is left alone stays as it is, to the byte.
    return replace(left[0] if len(left) == 1 else merged, failed=failed)


def _merge(site, members, first):
    """``members``: what the user calls it, where it is, its checksum if known."""
    numbered = list(enumerate(members))
    failed = []
    for attempt in (_unreadable, _unlike, None):
        if not numbered:
            return Outcome(failed=tuple(sorted(failed)))
        try:
            return _one(site, [member for _, member in numbered], failed)
        except (Refused, Unreadable) as error:
            if attempt is None:
                code, why = _why(error, [member for _, member in numbered])
                failed += [(number, code, why) for number, _ in numbered]
                return Outcome(failed=tuple(sorted(failed)))
        found = attempt(site, [member for _, member in numbered], first)
        failed += [(numbered[at][0], code, why) for at, code, why in found]
        left_out = {at for at, _, _ in found}
        numbered = [one for at, one in enumerate(numbered) if at not in left_out]
    raise AssertionError("the last attempt returns")


def _unreadable(site, members, _first):
    """Those that cannot even be read alone."""
    return [(at, *found) for at, found in ((at, _refusal(site, [member])) for at, member in enumerate(members)) if found]


def _unlike(site, members, first):
    """Those that do not go with the first readable one of all."""
    candidates = [(path, path, "") for path in first]
    model = next((one for one in candidates if _refusal(site, [one]) is None), members[0])
    return [(at, *found) for at, found in ((at, _refusal(site, [model, member])) for at, member in enumerate(members)) if found]


def _refusal(site, members):
    try:
        _one(site, members, ())
    except (Refused, Unreadable) as error:
        return _why(error, members)
    return None


def _one(site, members, failed):
    command, names = _command(members)
    record, reused = perform(site, command)
    return of_record(record, reused, command, names, sorted(failed))


def _why(error, members):
    if isinstance(error, Unreadable):
        return UNREADABLE, str(error)
    return error.code, reason(error.said, _command(members)[1], error.code)


def _command(members):
    width = len(str(len(members)))
    inputs = tuple(Input(f"{at:0{width}}.wlprof", path, sha256) for at, (_, path, sha256) in enumerate(members))
    command = Command(("merge", *(one.name for one in inputs), "-o", _OUTPUT), inputs, _OUTPUT)
    return command, [(one.name, name) for one, (name, _, _) in zip(inputs, members)]
