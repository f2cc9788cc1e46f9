"""The results that calls return."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from ._store import copy_file, replace_file

#: The list of results, in the folder to which they were copied.
INDEX = "index.json"


@dataclass(frozen=True)
class Result:
    """One result, or the reason why there is none.

    ``input``
        The input: the path as it was given; for a comparison, the later profile.
    ``settings``
        The other values on which the result depends: ``model``, ``options``, ``kernel``, ``set``, ``before``.
    ``path``
        The file: below ``output`` if that was given, otherwise in the store. ``None`` if there is an ``error``.
    ``error``, ``exit_code``
        The reason why there is no result, and the exit code of ``warpline``.
    ``notes``
        The notes of ``warpline``.
    ``reused``
        Whether the result was already in the store.
    ``sha256``, ``cpu_seconds``
        The checksum of the file, and the processor time for computing it."""

    input: str
    settings: dict
    path: Optional[Path] = None
    error: Optional[str] = None
    exit_code: int = 0
    notes: tuple = ()
    reused: bool = False
    sha256: Optional[str] = None
    cpu_seconds: float = 0.0

    def load(self):
        """Returns the result: a :class:`warpline.Profile`, or the document of a prediction or a comparison."""
        from .._errors import WarplineError
        from .._tables import load

        if self.path is None:
            raise WarplineError(f"{self.input}: {self.error}")
        if self.path.suffix == ".wlprof":
            return load(self.path)
        text = self.path.read_text(encoding="utf-8")
        return json.loads(text) if self.path.suffix == ".json" else text


class Results(list):
    """The results in the order of the inputs and settings."""

    @property
    def failed(self):
        """Returns the entries without a result."""
        return [one for one in self if one.path is None]

    @property
    def frame(self):
        """Returns a pandas data frame with a row for each result."""
        from .._data_frames import pandas_module

        names = sorted({name for one in self for name in one.settings})
        rows = [
            {"input": one.input, **{name: one.settings.get(name) for name in names}, "path": one.path, "error": one.error, "reused": one.reused}
            for one in self
        ]
        return pandas_module().DataFrame(rows, columns=["input", *names, "path", "error", "reused"])


@dataclass(frozen=True)
class Merged:
    """A profile that was merged from many. ``failed`` contains a :class:`Result` with an ``error`` for each profile
    that was excluded."""

    path: Path
    profiles: int
    notes: tuple = ()
    failed: list = field(default_factory=list)
    reused: bool = False
    sha256: Optional[str] = None
    tasks: int = 0
    tasks_reused: int = 0
    cpu_seconds: float = 0.0

    def load(self):
        """Returns the profile."""
        from .._tables import load

        return load(self.path)


def of_outcome(outcome, store, given, settings, target=None):
    """Returns the result of a task with one input; its file is copied to ``target``."""
    if not outcome.key:
        _, code, why = outcome.failed[0]
        return Result(given, settings, error=why, exit_code=code)
    path = store.place(outcome.key, outcome.suffix)
    if target is not None:
        copy_file(path, target)
        path = target
    return Result(
        given,
        settings,
        path=path,
        exit_code=outcome.exit_code,
        notes=outcome.notes,
        reused=outcome.reused,
        sha256=outcome.sha256,
        cpu_seconds=outcome.cpu_seconds,
    )


def write_index(folder, results):
    """Writes a list of the results to the folder of their files, for people and programs."""
    rows = [
        {
            "input": one.input,
            **one.settings,
            "file": one.path.name if one.path else None,
            "sha256": one.sha256,
            "exit_code": one.exit_code,
            "notes": list(one.notes),
            "error": one.error,
        }
        for one in results
    ]
    document = {"schema": "warpline.results.index", "version": 1, "results": rows}
    replace_file(Path(folder, INDEX), f"{json.dumps(document, indent=1)}\n".encode())


class Names:
    """File names in a folder, from the input and the settings, with a number if two names would be equal."""

    def __init__(self, folder):
        self._folder, self._used = Path(folder), {INDEX}

    def take(self, parts, suffix):
        """Returns a new path for a result."""
        name = ".".join(filter(None, map(_plain, parts)))[:150]
        file, count = f"{name}{suffix}", 1
        while file in self._used:
            count += 1
            file = f"{name}.{count}{suffix}"
        self._used.add(file)
        return self._folder / file


def _plain(part):
    return "".join(one if one.isalnum() or one in "-_=+" else "_" for one in str(part)).strip("_")
