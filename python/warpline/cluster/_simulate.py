"""Analyses stored traces with many models and configurations."""

from pathlib import Path

from ._call import Job, absolute, model_of, models_of, options_of, paths_of, sweep
from ._task import Command, Input

_OUTPUT = "profile.wlprof"
_PARTIAL = 7
_REFUSED = {
    "--gpu": "name models with `models`",
    "--output": "name a folder with `output`",
    "-o": "name a folder with `output`",
    "--threads": "a task takes one thread; the number of workers is the caller's",
    "--source-root": "results must follow from the trace alone; lines of sources are shown where their checksums fit the trace",
}


def simulate(traces, models, options=None, *, output=None, store=None, client=None, workers=None, progress=None):
    """Analyses each trace on each model with each of ``options``, one task each.

    ``models``
        Names of ``warpline gpus``, or files.
    ``options``
        Configurations: texts such as ``"--l2-copies cold"``, lists of words, or a dictionary from names to these. The
        default is one configuration without options.
    ``output``
        A folder to which results are copied, with an ``index.json``; by default they stay in the store.
    ``store``
        The folder of results, or a :class:`Store`; by default ``warpline-store`` in the working directory.
    ``client``
        The Dask client: ``None`` for processes on this machine, an address, a scheduler file, a ``Client``, a cluster.
    ``workers``
        The number of processes on this machine; by default one for each core.
    ``progress``
        Whether a line shows the progress; by default if standard error is a terminal.

    Returns :class:`Results`: a trace that cannot be read is reported in its own rows."""
    configurations = options_of(options, _REFUSED)
    jobs = [
        _job(trace, model, name, words)
        for trace in paths_of(traces, "trace")
        for model in models_of(models)
        for name, words in configurations.items()
    ]
    return sweep("sim", jobs, output, store, client, workers, progress)


def _job(trace, model, name, words):
    called, files, names = model_of(model)
    command = Command(
        ("sim", "trace.wltrace", "--gpu", called, "--threads", "1", *words, "-o", _OUTPUT),
        (Input("trace.wltrace", absolute(trace)), *files),
        _OUTPUT,
        accepted=(0, _PARTIAL),
    )
    stem = Path(trace).name
    for dress in (".wltrace",):
        stem = stem[: -len(dress)] if stem.endswith(dress) else stem
    label = Path(model).stem if files else model
    return Job(trace, {"model": str(model), "options": name}, command, (("trace.wltrace", trace), *names), (stem, label, name))
