"""A history of profiles, each compared with the one before it or with one of them all."""

from pathlib import Path

from ._call import Job, absolute, options_of, paths_of, sweep
from ._errors import Misused
from ._task import Command, Input

_BROKEN = 5
_REFUSED = {
    "--format": "name the form with `format`",
    "--limits": "name the file with `limits`",
    "--output": "name a folder with `output`",
    "-o": "name a folder with `output`",
}
_SUFFIXES = {"json": ".json", "text": ".txt", "markdown": ".md", "html": ".html"}


def diff(
    profiles,
    baseline=None,
    *,
    format="json",
    limits=None,
    options=None,
    output=None,
    store=None,
    client=None,
    workers=None,
    progress=None,
):
    """Compares profiles, given in the order of their history, each with the one before it; with ``baseline``, each with that one.

    ``profiles`` may also be pairs (before, after). ``limits`` is a file as of ``warpline diff --limits``: where one is broken, ``exit_code``
    of the result is 5. ``options`` are further options of ``warpline diff``, as ``"--strict"``. The rest is as with :func:`simulate`."""
    if format not in _SUFFIXES:
        raise Misused(f"{format!r} is no form of a comparison; there are {', '.join(_SUFFIXES)}")
    configurations = options_of(options, _REFUSED)
    jobs = [
        _job(before, after, format, limits, name, words)
        for before, after in _pairs(profiles, baseline)
        for name, words in configurations.items()
    ]
    return sweep("diff", jobs, output, store, client, workers, progress)


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
    inputs = [Input("before.wlprof", absolute(before)), Input("after.wlprof", absolute(after))]
    names = [("before.wlprof", before), ("after.wlprof", after)]
    arguments = ["diff", "before.wlprof", "after.wlprof", "--format", form]
    if limits is not None:
        arguments += ["--limits", "limits.toml"]
        inputs.append(Input("limits.toml", absolute(limits)))
        names.append(("limits.toml", str(limits)))
    command = Command((*arguments, *words, "-o", output), tuple(inputs), output, accepted=(0, _BROKEN))
    return Job(after, {"before": before, "options": name}, command, tuple(names), (Path(before).stem, Path(after).stem, name))
