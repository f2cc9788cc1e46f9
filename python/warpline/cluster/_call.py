"""Code that all calls share: the store, paths, options, and graphs without edges."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from ._engine import Node, execute
from ._errors import ClusterError, Misused
from ._outcome import outcome_of
from ._results import Names, Results, of_outcome, write_index
from ._store import Store
from ._task import Command, Input, site_of

#: The default folder of results, below the caller's working directory.
DEFAULT_STORE = "warpline-store"

_EXTENSIONS = {"profile": ".wlprof", "trace": ".wltrace"}


@dataclass(frozen=True)
class Job:
    """A command of a sweep, with the user's names for its input and settings."""

    given: str
    settings: dict
    command: Command
    names: tuple
    #: The parts of the name of its file, if it is copied.
    parts: tuple


def opened(store):
    """Returns the store, and the information about the store and the program that tasks need."""
    from .. import __version__

    store = store if isinstance(store, Store) else Store(DEFAULT_STORE if store is None else store)
    store.sweep()
    return store, site_of(store, __version__)


def sweep(what, jobs, output=None, store=None, client=None, workers=None, progress=None, task=outcome_of, more=()):
    """Runs jobs that do not depend on each other: ``task(site, command, names, *more)`` for each."""
    store, site = opened(store)
    if output is not None:
        made_folder(output)
    names = Names(output) if output is not None else None
    targets = [names.take(job.parts, Path(job.command.output).suffix) if names else None for job in jobs]
    nodes = [Node(task, (site, job.command, job.names, *more)) for job in jobs]
    results = Results([None] * len(jobs))

    def done(position, outcome):
        job = jobs[position]
        results[position] = of_outcome(outcome, store, job.given, job.settings, targets[position])

    execute(nodes, what, client, workers, progress, done=done)
    if output is not None:
        write_index(output, results)
    return results


def made_folder(folder):
    """Creates a folder for results."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClusterError(f"{folder}: results cannot be put there: {error.strerror or error}") from error


def paths_of(given, what):
    """Returns a list of paths from one or several paths, with folders replaced by their files; raises an error if there
    is none."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    paths = []
    for path in map(os.fspath, given):
        if os.path.isdir(path):
            found = sorted(str(one) for one in Path(path).glob(f"*{_EXTENSIONS[what]}"))
            if not found:
                raise Misused(f"{path}: the folder has no {what} (*{_EXTENSIONS[what]})")
            paths += found
        else:
            paths.append(path)
    if not paths:
        raise Misused(f"there is no {what}")
    return paths


def absolute(path):
    """Returns the path by which workers read a file."""
    return os.path.abspath(os.path.expanduser(path))


def options_of(given, refused):
    """Returns configurations by name, from nothing, a list of texts or lists, or a dictionary of these."""
    if given is None:
        given = [""]
    if isinstance(given, str):
        given = [given]
    named = given.items() if isinstance(given, dict) else [(None, one) for one in given]
    found = {}
    for name, one in named:
        words = tuple(shlex.split(one) if isinstance(one, str) else map(str, one))
        for word in words:
            option = word.partition("=")[0] if word.startswith("--") else word[:2]
            if option in refused:
                raise Misused(f"{word}: {refused[option]}")
        found[shlex.join(words) if name is None else str(name)] = words
    return found


def model_of(given):
    """Returns a model's name or the file that describes it: the argument of the command, and the file that it reads."""
    if not isinstance(given, str) or given.endswith(".toml") or os.sep in given:
        path = absolute(given)
        return "model.toml", (Input("model.toml", path),), (("model.toml", os.fspath(given)),)
    if not given or given.startswith("-") or "," in given:
        raise Misused(f"{given!r}: models are given as a list of names, see `warpline gpus`")
    return given, (), ()


def models_of(given):
    """Returns models from a name, a text with commas or a list."""
    if isinstance(given, str):
        given = given.split(",")
    elif isinstance(given, os.PathLike):
        given = [given]
    models = [one.strip() if isinstance(one, str) else one for one in given]
    if not models:
        raise Misused("no model was named, see `warpline gpus`")
    return models
