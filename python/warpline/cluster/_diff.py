"""Compares the profiles of a history, each with the previous one or all with one of them."""

import logging
import os
from pathlib import Path

from ._call import DEFAULT_STORE, Job, absolute, options_of, paths_of, sweep
from ._errors import Misused
from ._history import pairs, recorded
from ._store import Store
from ._task import Command, Input

_log = logging.getLogger(__name__)

_BROKEN = 5
_REFUSED = {
    "--format": "name the form with `format`",
    "--limits": "name the file with `limits`",
    "--output": "name a folder with `output`",
    "-o": "name a folder with `output`",
}
_SUFFIXES = {"json": ".json", "text": ".txt", "markdown": ".md", "html": ".html"}


def diff(
    profiles=None,
    baseline=None,
    *,
    history=None,
    name=None,
    branch=None,
    format="json",
    limits=None,
    options=None,
    output=None,
    store=None,
    client=None,
    workers=None,
    progress=None,
):
    """Compares profiles in the order of their history, each with the previous one, or with ``baseline`` if it is given.

    ``profiles`` may also be pairs (before, after). Instead of profiles, ``history`` names a store of ``warpline record``, a folder
    or an address: its recordings are compared in the order of ``warpline history``, limited to ``name`` and ``branch`` if
    these are given, and each only with recordings of the same name and models. In this case, ``baseline`` is a commit, or
    the file of a profile. ``limits`` is a file as of ``warpline diff --limits``: if one is exceeded, ``exit_code`` of the
    result is 5. ``options`` are further options of ``warpline diff``, as
    ``"--strict"``. The rest is as with :func:`simulate`."""
    if format not in _SUFFIXES:
        raise Misused(f"{format!r} is not a format of comparisons; there are {', '.join(_SUFFIXES)}")
    configurations = options_of(options, _REFUSED)
    if history is None:
        if name is not None or branch is not None:
            raise Misused("name and branch choose among recordings: name their store with `history`")
        compared = [(_Side(before), _Side(after)) for before, after in _pairs(profiles or [], baseline)]
    else:
        if profiles:
            raise Misused("either profiles or a history")
        store = store if isinstance(store, Store) else Store(DEFAULT_STORE if store is None else store)
        compared = _of_history(history, name, branch, baseline, store)
    jobs = [
        _job(before, after, format, limits, setting, words)
        for before, after in compared
        for setting, words in configurations.items()
    ]
    return sweep("diff", jobs, output, store, client, workers, progress)


class _Side:
    """One of the two profiles of a comparison: the user's name for it, and its file."""

    def __init__(self, shown, path=None):
        self.shown, self.path = str(shown), str(shown if path is None else path)


def _of_history(history, name, branch, baseline, store):
    recordings, notes = recorded(history, name, branch, store)
    for note in notes:
        _log.warning("note: %s", note)
    side = {one: _Side(one.shown, one.file) for one in recordings}
    if baseline is not None and os.path.isfile(baseline):
        return [(_Side(baseline), side[one]) for one in recordings]
    return [(side[before], side[after]) for before, after in pairs(recordings, baseline)]


def _pairs(profiles, baseline):
    profiles = list(profiles) if not isinstance(profiles, str) else [profiles]
    if profiles and all(isinstance(one, (tuple, list)) for one in profiles):
        return [tuple(map(str, one)) for one in profiles]
    paths = paths_of(profiles, "profile")
    if baseline is not None:
        return [(str(baseline), path) for path in paths]
    if len(paths) < 2:
        raise Misused("a comparison needs two profiles, or a baseline")
    return list(zip(paths, paths[1:]))


def _job(before, after, form, limits, name, words):
    output = f"comparison{_SUFFIXES[form]}"
    inputs = [Input("before.wlprof", absolute(before.path)), Input("after.wlprof", absolute(after.path))]
    names = [("before.wlprof", before.shown), ("after.wlprof", after.shown)]
    arguments = ["diff", "before.wlprof", "after.wlprof", "--format", form]
    if limits is not None:
        arguments += ["--limits", "limits.toml"]
        inputs.append(Input("limits.toml", absolute(limits)))
        names.append(("limits.toml", str(limits)))
    command = Command((*arguments, *words, "-o", output), tuple(inputs), output, accepted=(0, _BROKEN))
    parts = (_stem(before.shown), _stem(after.shown), name)
    return Job(after.shown, {"before": before.shown, "options": name}, command, tuple(names), parts)


def _stem(shown):
    return Path(shown).stem if shown.endswith(".wlprof") else shown
