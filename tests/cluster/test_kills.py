"""Workers, the scheduler and the client are killed at random moments: nothing that was finished is lost, and the results are those of
an undisturbed run.

``WARPLINE_CLUSTER_KILLS`` sets the number of each; ``WARPLINE_CLUSTER_SEED`` chooses other moments."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from dask_processes import Processes, wait
from inputs import HERE, Inputs
from sweep import MODELS, sweep
from warpline.cluster._connect import connected

KILLS = int(os.environ.get("WARPLINE_CLUSTER_KILLS", "1"))
SEED = int(os.environ.get("WARPLINE_CLUSTER_SEED", "21"))
ELEMENTS = [60_000 + 5_000 * number for number in range(5)]
TASKS = len(ELEMENTS) * len(MODELS) + 5 * len(MODELS)


def finished(store):
    """What the store has whole: by name, the file's identity and time."""
    found = {}
    for record in Path(store, "results").glob("*/*.record"):
        result = record.with_suffix(".wlprof")
        found[record.stem] = [(one.stat().st_ino, one.stat().st_mtime_ns) for one in (record, result)]
    return found


def results(store):
    """The bytes of all results."""
    return {path.name: path.read_bytes() for path in Path(store, "results").glob("*/*.wlprof")}


def setUpModule():
    global inputs, undisturbed, expected
    inputs = Inputs(ELEMENTS)
    store, output = inputs.path("undisturbed"), inputs.path("expected")
    output.mkdir()
    sweep(store, output, "-", inputs.folder)
    undisturbed = results(store)
    expected = {model: output.joinpath(f"{model}.wlprof").read_bytes() for model in MODELS}
    assert len(undisturbed) == TASKS, len(undisturbed)


def tearDownModule():
    inputs.close()


class Kills(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=inputs.folder))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store, self.output = self.folder / "store", self.folder / "output"

    def sweep(self, scheduler):
        environment = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "critical"}
        self.output.mkdir(exist_ok=True)
        command = [sys.executable, "-W", "ignore", HERE / "sweep.py", self.store, self.output, scheduler, inputs.folder]
        return subprocess.Popen(list(map(str, command)), env=environment, stderr=subprocess.PIPE, text=True)

    def at_a_random_moment(self, number, whom):
        """Waits until some results are there, and then a little."""
        chance = random.Random(f"{SEED} {number} {whom}")
        after, pause = chance.randrange(TASKS - 1), chance.random() * 0.3
        wait(lambda: len(finished(self.store)) >= after)
        time.sleep(pause)
        return chance

    def check(self, number, before, client):
        output = client.communicate(timeout=600)[1]
        self.assertEqual(client.returncode, 0, f"moment {number} of seed {SEED}: {output}")
        after = finished(self.store)
        self.assertEqual({key: after[key] for key in before}, before, f"moment {number} of seed {SEED}: made again")
        self.assertEqual(results(self.store), undisturbed)
        self.assertEqual({model: self.output.joinpath(f"{model}.wlprof").read_bytes() for model in MODELS}, expected)
        self.moments.append(len(before))

    def each(self, whom, trial):
        self.moments = []
        for number in range(KILLS):
            with self.subTest(whom=whom, moment=number):
                trial(number)
            for folder in (self.store, self.output):
                shutil.rmtree(folder, ignore_errors=True)
        print(f"{whom} killed when of {TASKS} results were finished: {self.moments}", file=sys.stderr)

    def test_workers(self):
        processes = Processes(self.folder)
        self.addCleanup(processes.close)

        def trial(number):
            client = self.sweep(processes.file)
            chance = self.at_a_random_moment(number, "worker")
            before = finished(self.store)
            processes.kill_worker(chance)
            self.check(number, before, client)

        self.each("worker", trial)

    def test_the_scheduler(self):
        processes = Processes(self.folder)
        self.addCleanup(processes.close)

        def trial(number):
            client = self.sweep(processes.file)
            self.at_a_random_moment(number, "scheduler")
            before = finished(self.store)
            processes.kill_scheduler()
            processes.start()
            self.check(number, before, client)

        self.each("scheduler", trial)

    def test_a_file_that_names_a_dead_scheduler_is_read_again(self):
        processes = Processes(self.folder)
        self.addCleanup(processes.close)
        processes.kill_scheduler()
        returning = threading.Timer(2.0, processes.start)
        returning.start()
        self.addCleanup(returning.join)
        with connected(processes.file) as client:
            self.assertEqual(client.scheduler.address, json.loads(processes.file.read_text())["address"])

    def test_the_client_with_its_processes(self):
        def trial(number):
            client = self.sweep("-")
            self.at_a_random_moment(number, "client")
            before = finished(self.store)
            client.kill()
            client.communicate()
            self.check(number, before, self.sweep("-"))

        self.each("client", trial)


if __name__ == "__main__":
    unittest.main()
