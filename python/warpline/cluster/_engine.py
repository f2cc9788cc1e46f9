"""Runs a graph of tasks with Dask's scheduler.

The scheduler only has a part of the graph at a time, with children before their parents. So neither it nor the caller
stores more than outcomes of a few hundred bytes, for graphs of any length and for profiles and traces of any size."""

import asyncio
import logging
import queue
import time
import uuid
from collections import deque
from dataclasses import dataclass

from ._connect import LostAtFirst, can_return, connected
from ._errors import ClusterError, LostScheduler
from ._progress import Progress

#: The number of tasks at the scheduler for each thread of a worker, large enough that no thread waits for the caller.
_AHEAD = 8
_AHEAD_AT_LEAST = 64
#: The interval for counting workers, and the time to wait for an outcome before the connection is checked.
_COUNT_SECONDS, _LOOK_SECONDS = 2.0, 0.2
#: The exceptions that Dask raises if its scheduler does not answer; cancellations are not an `Exception`.
_GONE = (OSError, RuntimeError, TimeoutError, asyncio.TimeoutError, asyncio.CancelledError)

log = logging.getLogger("warpline.cluster")


@dataclass(frozen=True)
class Node:
    """A task: ``function(*arguments)``. If it has ``children``, positions of earlier nodes, the list of their outcomes comes first."""

    function: object
    arguments: tuple
    children: tuple = ()


def execute(nodes, what, client=None, workers=None, progress=None, patience=60.0, done=None):
    """Runs nodes, children before parents; calls ``done(position, outcome)`` for each and returns the outcomes by position.

    If a scheduler that was named by an address or a file is lost, the function waits ``patience`` seconds for its return;
    then the unfinished tasks are submitted again."""
    outcomes, lost = {}, None
    with Progress(what, len(nodes), progress) as shown:

        def finished(position, outcome):
            nonlocal lost
            lost = None
            outcomes[position] = outcome
            shown.finished(outcome)
            if done:
                done(position, outcome)

        while len(outcomes) < len(nodes):
            try:
                with connected(client, workers) as connection:
                    _asked(connection, lambda: shown.connected(connection))
                    _pass(connection, nodes, outcomes, what, finished, shown)
            except LostScheduler as error:
                if not can_return(client) or _spent(lost, patience):
                    raise
                lost = lost or time.monotonic()
                log.warning("%s; waiting %g seconds for it to come back", error, patience)
            except LostAtFirst as error:
                if lost is None:
                    raise
                if _spent(lost, patience):
                    raise LostScheduler(f"{error}; what was finished is kept, and the same call goes on from there") from error
                time.sleep(0.5)
    return outcomes


def _spent(since, patience):
    return since is not None and time.monotonic() - since > patience


def _pass(client, nodes, outcomes, what, finished, shown):
    """Submits the tasks without an outcome, until all are finished or the scheduler is lost."""
    name = f"warpline-{what}-{uuid.uuid4().hex[:8]}"
    waiting = deque(position for position in range(len(nodes)) if position not in outcomes)
    parents = {child: position for position, node in enumerate(nodes) for child in node.children}
    running, completed = {}, queue.SimpleQueue()
    # Futures of children whose parents are not finished; the scheduler keeps their outcomes for the parents.
    kept = {}
    threads, counted = 0, None
    while waiting or running:
        if counted is None or time.monotonic() - counted > _COUNT_SECONDS:
            threads = _asked(client, lambda: sum(client.nthreads().values()))
            counted = time.monotonic()
            shown.workers(threads)
        while waiting and len(running) < max(_AHEAD_AT_LEAST, _AHEAD * threads):
            position = waiting.popleft()
            node = nodes[position]
            children = [kept.get(child, outcomes.get(child)) for child in node.children]
            arguments = (children, *node.arguments) if children else node.arguments
            future = _asked(client, lambda: client.submit(node.function, *arguments, key=(name, position), pure=False))
            running[position] = kept[position] = future
            future.add_done_callback(lambda _, position=position: completed.put(position))
        for position, outcome in _gathered(client, running, completed):
            for child in nodes[position].children:
                kept.pop(child, None)
            if position not in parents:
                del kept[position]
            finished(position, outcome)
        if client.status != "running":
            raise _lost(client)
        shown.tick()


def _gathered(client, running, completed):
    """Returns the outcomes of the tasks that are complete by now; waits a short time for the first."""
    positions = []
    try:
        positions.append(completed.get(timeout=_LOOK_SECONDS))
        while True:
            positions.append(completed.get_nowait())
    except queue.Empty:
        pass
    futures = [running.pop(position) for position in positions]
    for future in futures:
        if future.status == "error":
            raise _explained(future)
        if future.status != "finished":
            raise _lost(client)
    return zip(positions, _asked(client, lambda: client.gather(futures)) if futures else [])


def _asked(client, question):
    """Returns an answer of the scheduler."""
    try:
        return question()
    except _GONE as error:
        raise _lost(client) from error


def _lost(client):
    address = getattr(getattr(client, "scheduler", None), "address", None)
    return LostScheduler(f"the scheduler{f' at {address}' if address else ''} is lost; what was finished is in the store")


def _explained(future):
    """Explains why a task could not run at all."""
    error = future.exception()
    if isinstance(error, ClusterError):
        return error
    again = "the same call goes on from what is finished"
    if isinstance(error, ImportError):
        return ClusterError(f"a worker lacks the Python package ({error}): install warpline[cluster] where workers run")
    if type(error).__name__ == "KilledWorker":
        return ClusterError(
            f"workers died again and again at the same task ({error}); if it needs more memory than they have, run fewer per machine; {again}"
        )
    if isinstance(error, OSError):
        return ClusterError(f"a worker could not use the store or start warpline: {error}; {again}")
    return ClusterError(f"a task failed: {type(error).__name__}: {error}; {again}")
