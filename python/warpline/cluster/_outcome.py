"""The outcome that a task returns. It is small, because the scheduler stores it; the bytes of the result are in the
store."""

import re
from dataclasses import dataclass

from ._task import Command, Refused, Unreadable, perform

#: The exit code ``UNREADABLE`` of ``warpline``.
UNREADABLE = 3
#: The maximum number of characters of a reason in an outcome.
_REASON = 1000
#: The maximum number of notes in an outcome; a profile contains all of its own notes.
_NOTES = 20


@dataclass(frozen=True)
class Outcome:
    """The outcome of one task. Without a key, there is no result, and ``failed`` contains the reason."""

    key: str = ""
    suffix: str = ""
    sha256: str = ""
    exit_code: int = 0
    #: The notes of the program.
    notes: tuple = ()
    #: The inputs without a result: their number within the task's inputs, the exit code, and the reason.
    failed: tuple = ()
    #: The inputs of a merge that exist but cannot be read, if there was no other input to merge them with.
    unread: tuple = ()
    reused: bool = False
    #: The processor time of ``warpline`` in seconds, now or when the result was computed.
    cpu_seconds: float = 0.0


def outcome_of(site, command, names):
    """Performs a command of which only the first input can fail; ``names`` are the user's names for the names in the
    command."""
    try:
        record, reused = perform(site, command)
    except Refused as refused:
        return Outcome(failed=((0, refused.code, reason(refused.said, names, refused.code)),))
    except Unreadable as unreadable:
        return Outcome(failed=((0, UNREADABLE, str(unreadable)),))
    return of_record(record, reused, command, names)


def of_record(record, reused, command: Command, names, failed=()):
    """Returns the outcome in a record."""
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
    """Returns the reason why the program refused its input, with the user's names."""
    if code < 0:
        ended = f"warpline was ended by signal {-code}"
        output = f"{ended}: {output}" if output else ended
    lines = [_plain(line, names) for line in output.splitlines()]
    return "\n".join(lines)[:_REASON] or f"warpline ended with code {code} without a message"


def notes(output, names):
    """Returns the notes in the program's output."""
    lines = (_plain(line, names) for line in output.splitlines())
    found = [line[len("note: ") :][:_REASON] for line in lines if line.startswith("note: ")]
    return tuple(found[:_NOTES])


def _plain(line, names):
    table = dict(names)
    if line.startswith("warpline: "):
        line = line[len("warpline: ") :]
    # All names are replaced in one pass, because a user's name may contain one of the internal names.
    return re.sub("|".join(map(re.escape, table)), lambda found: table[found[0]], line) if table else line
