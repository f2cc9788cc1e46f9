"""What a task hands back: small, since the scheduler holds it; the bytes are in the store."""

import re
from dataclasses import dataclass

from ._task import Command, Refused, Unreadable, perform

#: ``UNREADABLE`` of ``warpline``'s exit codes.
UNREADABLE = 3
#: Characters of a reason that are handed on.
_REASON = 1000
#: Notes that are handed on; a profile has all of its own.
_NOTES = 20


@dataclass(frozen=True)
class Outcome:
    """Of one task. Without a key there is no result, and ``failed`` has the reason."""

    key: str = ""
    suffix: str = ""
    sha256: str = ""
    exit_code: int = 0
    #: What the program had to note.
    notes: tuple = ()
    #: Inputs that gave nothing: number within the task's, exit code, why.
    failed: tuple = ()
    #: Inputs of a merge that are there and cannot be read, where there was nothing to merge them with.
    unread: tuple = ()
    reused: bool = False
    #: Seconds of processors that ``warpline`` took, now or when the result was made.
    cpu_seconds: float = 0.0


def outcome_of(site, command, names):
    """Performs a command whose only input of interest is the first; ``names`` are the user's for those of the command."""
    try:
        record, reused = perform(site, command)
    except Refused as refused:
        return Outcome(failed=((0, refused.code, reason(refused.said, names, refused.code)),))
    except Unreadable as unreadable:
        return Outcome(failed=((0, UNREADABLE, str(unreadable)),))
    return of_record(record, reused, command, names)


def of_record(record, reused, command: Command, names, failed=()):
    """The outcome in a record."""
    return Outcome(
        key=record["key"],
        suffix=command.suffix,
        sha256=record["sha256"],
        exit_code=record["exit_code"],
        notes=notes(record["said"], names),
        failed=tuple(failed),
        reused=reused,
        cpu_seconds=record["cpu_seconds"],
    )


def reason(output, names, code):
    """Why the program refused, with the user's names."""
    if code < 0:
        ended = f"warpline was ended by signal {-code}"
        output = f"{ended}: {output}" if output else ended
    lines = [_plain(line, names) for line in output.splitlines()]
    return "\n".join(lines)[:_REASON] or f"warpline ended with code {code} without a message"


def notes(output, names):
    """The notes in the program's output."""
    lines = (_plain(line, names) for line in output.splitlines())
    found = [line[len("note: ") :][:_REASON] for line in lines if line.startswith("note: ")]
    return tuple(found[:_NOTES])


def _plain(line, names):
    table = dict(names)
    if line.startswith("warpline: "):
        line = line[len("warpline: ") :]
    # All at once: a user's name may contain one of ours.
    return re.sub("|".join(map(re.escape, table)), lambda found: table[found[0]], line) if table else line
