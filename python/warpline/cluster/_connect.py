"""Which scheduler does the work."""

import contextlib
import logging
import multiprocessing
import os
import time
from pathlib import Path

from ._errors import ClusterError, Misused, NoDask

#: For the first answer of a scheduler that somebody named.
_CONNECT_SECONDS = 30
#: For one attempt: a scheduler file may name one that has just died, until its successor writes the file anew.
_ATTEMPT_SECONDS = 3
#: For processes on this machine to start.
_START_SECONDS = 180


def distributed():
    """The package, or how to get it."""
    try:
        import distributed
    except ImportError as missing:
        raise NoDask(f"this needs Dask ({missing}): pip install 'warpline[cluster]', or pip install 'dask[distributed]' bokeh") from missing
    return distributed


@contextlib.contextmanager
def connected(given, workers=None):
    """A client of Dask's, and whether it can be had again when the scheduler is lost.

    ``given``: nothing for processes on this machine (``workers`` of them), a scheduler's address, a scheduler file, a ``Client``, or a cluster as of
    ``dask_jobqueue``. What was made here is closed afterwards."""
    dask = distributed()
    if given is None:
        _guarded()
        with _local(dask, workers) as cluster, dask.Client(cluster, timeout=_START_SECONDS) as client:
            yield client
    elif isinstance(given, dask.Client):
        yield given
    elif isinstance(given, (str, os.PathLike)):
        with _named(dask, os.fspath(given)) as client:
            yield client
    elif hasattr(given, "scheduler_address"):
        with dask.Client(given) as client:
            yield client
    else:
        raise Misused(f"{given!r} is no address, scheduler file, Client or cluster of Dask's")


def can_return(given):
    """Whether a scheduler that was lost can be back under the same name."""
    return isinstance(given, (str, os.PathLike))


def _local(dask, workers):
    """Processes on this machine."""
    from dask import config

    # A busy machine takes its time to start them.
    patient = {"distributed.comm.timeouts.connect": f"{_START_SECONDS}s"}
    try:
        with config.set(patient):
            return dask.LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                # The work is in processes of Warpline's, which Dask does not see.
                memory_limit=0,
                # For access from other machines, start a scheduler.
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
    except (OSError, RuntimeError, TimeoutError) as error:
        raise ClusterError(f"workers cannot be started on this machine: {type(error).__name__}: {error}") from error


def _named(dask, name):
    if ":" not in name and not Path(name).is_file():
        raise LostAtFirst(f"{name}: there is no such scheduler file, and an address has a port, as tcp://host:8786")
    arguments = {"address": name} if ":" in name and not Path(name).is_file() else {"scheduler_file": name}
    deadline = time.monotonic() + _CONNECT_SECONDS
    while True:
        began = time.monotonic()
        try:
            return dask.Client(timeout=_ATTEMPT_SECONDS, **arguments)
        except (OSError, ValueError, TimeoutError) as error:
            if time.monotonic() >= deadline or isinstance(error, ValueError) and "address" in arguments:
                raise LostAtFirst(f"no scheduler answers at {name}: {error}") from error
        time.sleep(max(0.0, began + 0.5 - time.monotonic()))


class LostAtFirst(ClusterError):
    """There is no scheduler, or not yet."""


def _guarded():
    """Explains the error if a script's own import starts workers that import the script."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise Misused("workers import the script that starts them: put the call into `if __name__ == '__main__':`")
