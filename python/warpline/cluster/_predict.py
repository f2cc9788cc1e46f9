"""Predicts launches that were never made, over kernels, sizes and models."""

import itertools
from pathlib import Path

from ._call import Job, absolute, model_of, models_of, options_of, paths_of, sweep
from ._errors import Misused
from ._task import Command, Input

_REFUSED = {
    "--gpu": "name models with `models`",
    "--kernel": "name kernels with `kernels`",
    "--set": "name values with `settings`",
    "--format": "name the form with `format`",
    "--output": "name a folder with `output`",
    "-o": "name a folder with `output`",
    "--check": "programs are not run here; `warpline predict --check` does",
}
_SUFFIXES = {"json": ".json", "csv": ".csv", "text": ".txt"}


def predict(
    profiles,
    kernels=None,
    models=None,
    settings=None,
    options=None,
    *,
    format="json",
    output=None,
    store=None,
    client=None,
    workers=None,
    progress=None,
):
    """Predicts each kernel of each profile, on each model, with each of ``settings``, one task each.

    ``kernels``
        Regular expressions, each for one kernel; by default the only kernel of a profile.
    ``models``
        Names of ``warpline gpus``, or files; by default the first model of the profile.
    ``settings``
        Other values of parameters: a dictionary of names to values or lists of values, of which all combinations are used,
        or a list of dictionaries.
    ``options``
        More options of ``warpline predict``, such as ``"--block 32x8,64x4"``; several configurations as with :func:`simulate`.

    The rest is as with :func:`simulate`."""
    suffix = _suffix(format)
    jobs = [
        _job(profile, kernel, model, setting, name, words, format, suffix)
        for profile in paths_of(profiles, "profile")
        for kernel in (kernels if isinstance(kernels, (list, tuple)) else [kernels])
        for model in ([None] if models is None else models_of(models))
        for setting in _settings(settings)
        for name, words in options_of(options, _REFUSED).items()
    ]
    return sweep("predict", jobs, output, store, client, workers, progress)


def _suffix(form):
    if form not in _SUFFIXES:
        raise Misused(f"{form!r} is not a format of predictions; there are {', '.join(_SUFFIXES)}")
    return _SUFFIXES[form]


def _settings(given):
    if given is None:
        return [{}]
    if isinstance(given, dict):
        values = [value if isinstance(value, (list, tuple, range)) else [value] for value in given.values()]
        return [dict(zip(given, chosen)) for chosen in itertools.product(*values)]
    return [dict(one) for one in given]


def _job(profile, kernel, model, setting, name, words, form, suffix):
    output = f"prediction{suffix}"
    arguments, inputs, names = ["predict", "profile.wlprof"], [Input("profile.wlprof", absolute(profile))], [("profile.wlprof", profile)]
    if kernel is not None:
        arguments += ["--kernel", kernel]
    if model is not None:
        called, files, called_names = model_of(model)
        arguments += ["--gpu", called]
        inputs += files
        names += called_names
    set_ = [f"{parameter}={value}" for parameter, value in setting.items()]
    for one in set_:
        arguments += ["--set", one]
    command = Command((*arguments, *words, "--format", form, "-o", output), tuple(inputs), output)
    description = {"kernel": kernel, "model": None if model is None else str(model), "set": " ".join(set_), "options": name}
    parts = (Path(profile).stem, kernel or "", "" if model is None else Path(model).stem, "+".join(set_), name)
    return Job(profile, description, command, tuple(names), parts)
