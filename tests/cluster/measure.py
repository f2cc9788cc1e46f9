"""What a task costs in addition to its `warpline`, and how simulations scale: `measure.py TASKS` or `measure.py TRACES…`.

Figures for the cost model of `docs/benchmarks`; times of processors, since machines may be busy."""

import os
import sys
import tempfile
import time

import distributed
import warpline.cluster as cluster
from warpline.cluster._engine import Node, execute
from warpline.cluster._outcome import Outcome

MODELS = ["a100", "h100", "v100", "rtx4090", "p100", "t4"]


def nothing(number):
    """A task that does nothing."""
    return Outcome(key=f"{number:064}", sha256=f"{number:064}")


class Measured:
    """Workers, and seconds while they do something."""

    def __init__(self, workers):
        self._cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=60
        )
        self.client = distributed.Client(self._cluster, timeout=180)
        self.client.wait_for_workers(workers)

    def _now(self):
        workers = sum(self.client.run(lambda: __import__("time").process_time()).values())
        return time.time(), time.process_time(), workers

    def of(self, action):
        """Wall-clock time, processor time of scheduler and caller, and of the workers' Python."""
        before = self._now()
        result = action()
        return result, [after - one for one, after in zip(before, self._now())]

    def close(self):
        self.client.close()
        self._cluster.close()


def main(arguments):
    if arguments[0].isdigit():
        count = int(arguments[0])
        measured = Measured(2)
        execute([Node(nothing, (at,)) for at in range(50)], "warm", measured.client, progress=False)
        _, seconds = measured.of(lambda: execute([Node(nothing, (at,)) for at in range(count)], "tasks", measured.client, progress=False))
        wall, own, workers = (1000 * one / count for one in seconds)
        print(f"{count} tasks: {wall:.2f} ms each, scheduler and caller {own:.2f} ms, workers {workers:.2f} ms, load {os.getloadavg()[0]:.0f}")
        measured.close()
        return
    for workers in (1, 2, 4):
        measured = Measured(workers)
        with tempfile.TemporaryDirectory() as store:
            found, (wall, own, python) = measured.of(
                lambda: cluster.simulate(arguments, MODELS, store=store, client=measured.client, progress=False)
            )
        assert not found.failed, found.failed
        spent = sum(one.cpu_seconds for one in found)
        print(
            f"{workers} workers: {len(found)} tasks in {wall:.1f} s; warpline {spent:.2f} s, workers {python:.2f} s, "
            f"scheduler and caller {own:.2f} s of processors; load {os.getloadavg()[0]:.0f}",
            flush=True,
        )
        measured.close()


if __name__ == "__main__":
    main(sys.argv[1:])
