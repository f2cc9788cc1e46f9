"""Connects to the scheduler that runs the tasks."""

import contextlib
import logging
import multiprocessing
import os
import time
from pathlib import Path

from ._errors import ClusterError, Misused, NoDask

#: The time to wait for the first answer of a scheduler that the user named.
_CONNECT_SECONDS = 30
#: The time for one attempt: a scheduler file may name a scheduler that has just ended, until its successor writes the
#: file again.
_ATTEMPT_SECONDS = 3
#: The time for processes on this machine to start.
_START_SECONDS = 180


def distributed():
    """Returns the package, or raises an error that explains how to install it."""
    try:
        import distributed
    except ImportError as missing:
        raise NoDask(f"this needs Dask ({missing}): pip install 'warpline[cluster]', or pip install 'dask[distributed]' bokeh") from missing
    return distributed


@contextlib.contextmanager
def connected(given, workers=None):
    """Returns a Dask client, and whether a new client can be created if the scheduler is lost.

    ``given``: nothing for processes on this machine (``workers`` of them), a scheduler's address, a scheduler file, a
    ``Client``, or a cluster as of
    ``dask_jobqueue``. Everything that this function created is closed afterwards."""
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
    """Returns whether a scheduler that was lost can become available again under the same name."""
    return isinstance(given, (str, os.PathLike))


def _local(dask, workers):
    """Starts processes on this machine."""
    from dask import config

    # A busy machine needs time to start them.
    patient = {"distributed.comm.timeouts.connect": f"{_START_SECONDS}s"}
    try:
        with config.set(patient):
            return dask.LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                # The work is done in Warpline's processes, which Dask does not see.
                memory_limit=0,
                # Access from other machines requires a separate scheduler.
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
    """There is no scheduler, or it is not available yet."""


def _guarded():
    """Explains the error that occurs if a script's own import starts workers that import the script."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise Misused("workers import the script that starts them: put the call into `if __name__ == '__main__':`")
