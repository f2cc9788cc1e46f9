"""Adds profiles as tables to a dataset in Parquet."""

import json
import shlex
import tarfile
from pathlib import Path

from ._call import Job, absolute, made_folder, options_of, paths_of, sweep
from ._errors import ClusterError, Misused
from ._outcome import outcome_of
from ._packed import place
from ._task import Command, Input, ready

_DATASET, _OUTPUT, _MANIFEST = "dataset", "dataset.tar", "dataset.json"
_TOOLCHAIN = 6
_REFUSED = {"--format": "name the form with `format`"}


def export(profiles, dataset, *, labels=None, format="parquet", store=None, client=None, workers=None, progress=None):
    """Adds profiles to a dataset, which is a folder, with one task each, as ``warpline export DIR PROFILES…`` does.

    ``labels`` is a dictionary of labels that are stored with all of them. Workers must have access to the folder under the
    same path, as to the store. The existing content of the folder stays. The rest is as with :func:`simulate`; ``path`` of a
    result is the packed tables of one profile in the store."""
    if format != "parquet":
        raise Misused(f"{format!r} is not a format of datasets; there is parquet")
    folder = Path(absolute(dataset))
    _usable(folder)
    words = [word for name, value in (labels or {}).items() for word in ("--label", f"{name}={value}")]
    ((_, words),) = options_of([shlex.join(words)], _REFUSED).items()
    jobs = [_job(profile, words, format) for profile in paths_of(profiles, "profile")]
    return sweep("export", jobs, None, store, client, workers, progress, task=_exported, more=(str(folder),))


def _usable(folder):
    """Checks that a folder is new, empty or a dataset."""
    made_folder(folder)
    try:
        if not (folder / _MANIFEST).is_file() and any(folder.iterdir()):
            raise Misused(f"{folder}: the folder is not empty and holds no dataset; give the name of a new folder")
    except OSError as error:
        raise ClusterError(f"{folder}: cannot be read: {error.strerror or error}") from error


def _job(profile, words, form):
    command = Command(
        ("export", "--format", form, *words, _DATASET, "profile.wlprof"),
        (Input("profile.wlprof", absolute(profile)),),
        _OUTPUT,
        folder=_DATASET,
    )
    return Job(profile, {}, command, (("profile.wlprof", profile),), (Path(profile).stem,))


def _exported(site, command, names, folder):
    """A task: writes the tables of a profile to the store and to the dataset."""
    outcome = outcome_of(site, command, names)
    if not outcome.key:
        if outcome.failed[0][1] == _TOOLCHAIN:
            raise ClusterError(outcome.failed[0][2])
        return outcome
    packed = ready(site).place(outcome.key, outcome.suffix)
    _fits(packed, Path(folder, _MANIFEST))
    place(packed, folder)
    return outcome


def _fits(packed, manifest):
    """Returns whether the dataset has the version that this program writes."""
    def head(text):
        found = json.loads(text)
        return found.get("schema"), found.get("version")

    try:
        there = head(manifest.read_bytes())
    except FileNotFoundError:
        return
    except (ValueError, AttributeError) as error:
        raise ClusterError(f"{manifest}: this is not the description of a dataset: {error}; export to a new folder") from error
    with tarfile.open(packed) as tables:
        ours = head(tables.extractfile(_MANIFEST).read())
    if there != ours:
        raise ClusterError(f"{manifest}: the dataset has version {there[1]}, and this warpline writes {ours[1]}; export to a new folder")
