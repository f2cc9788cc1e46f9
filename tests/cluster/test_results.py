"""Results are those of one process, are kept, and are made again where they are damaged."""

import dataclasses
import json
import logging
import os
import pickle
import shutil
import tempfile
import typing
import unittest
import urllib.request
from pathlib import Path

import distributed
import warpline
import warpline.cluster as cluster
from inputs import Inputs, python, warpline_ends
from inputs import warpline as warpline_does
from warpline.cluster._engine import Node, execute
from warpline.cluster._outcome import Outcome
from warpline.cluster._task import Site, ready, site_of

ELEMENTS = [1000 + 700 * number for number in range(10)]


def setUpModule():
    global inputs, scheduler, client
    inputs = Inputs(ELEMENTS)
    scheduler = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        memory_limit=0,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        # Tasks that fail are part of the tests.
        silence_logs=logging.CRITICAL + 1,
    )
    client = distributed.Client(scheduler)


def tearDownModule():
    client.close()
    scheduler.close()
    inputs.close()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=inputs.folder))
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = self.folder / "store"
        self.common = {"store": self.store, "client": client}

    def kept(self):
        """What the store has, and when it was written."""
        files = [one for one in self.store.joinpath("results").rglob("*") if one.is_file()]
        return {one.name: (one.stat().st_ino, one.stat().st_mtime_ns, one.read_bytes()) for one in files}


class Types(unittest.TestCase):
    """Type checkers of programs that use the package read its annotations."""

    def test_fields_that_may_be_missing_say_so(self):
        for kind in cluster.Result, cluster.Merged:
            hints = typing.get_type_hints(kind)
            missing = [one.name for one in dataclasses.fields(kind) if one.default is None]
            self.assertIn("sha256", missing)
            for name in missing:
                self.assertIn(type(None), typing.get_args(hints[name]), f"{kind.__name__}.{name}")


class SameAsOneProcess(Case):
    def test_simulations(self):
        traces = inputs.traces[:3]
        found = cluster.simulate(traces, ["a100", "v100"], {"warm": "", "cold": "--l2-copies cold"}, **self.common)
        self.assertEqual(len(found), 12)
        self.assertEqual(found.failed, [])
        for one in found:
            options = {"warm": [], "cold": ["--l2-copies", "cold"]}[one.settings["options"]]
            command = ["sim", "trace.wltrace", "--gpu", one.settings["model"], "--threads", "1", *options]
            self.assertEqual(one.path.read_bytes(), inputs.alone("profile.wlprof", *command, trace_wltrace=one.input))
        profile = found[0].load()
        self.assertEqual(profile.model, "a100")

    def test_a_model_of_ones_own(self):
        text = Path(__file__).parent.parent.parent.joinpath("models/v100.toml").read_text()
        model = self.folder / "mine.toml"
        model.write_text(text.replace('key = "v100"', 'key = "mine"'))
        (found,) = cluster.simulate(inputs.traces[0], [model], **self.common)
        self.assertIsNone(found.error)
        command = ["sim", "trace.wltrace", "--gpu", "model.toml", "--threads", "1"]
        alone = inputs.alone("profile.wlprof", *command, trace_wltrace=inputs.traces[0], model_toml=model)
        self.assertEqual(found.path.read_bytes(), alone)

    def test_predictions(self):
        found = cluster.predict(inputs.profiles[:1], ["scale", "add"], "a100,h100", {"n": [512, 2048]}, **self.common)
        self.assertEqual(len(found), 8)
        for one in found:
            self.assertIsNone(one.error)
            given = ["--kernel", one.settings["kernel"], "--gpu", one.settings["model"], "--set", one.settings["set"]]
            command = ["predict", "profile.wlprof", *given, "--format", "json"]
            self.assertEqual(one.path.read_bytes(), inputs.alone("prediction.json", *command, profile_wlprof=one.input))
        self.assertEqual(found[0].load()["schema"], "warpline.prediction")

    def test_comparisons(self):
        found = cluster.diff(inputs.profiles[:4], **self.common)
        self.assertEqual([one.settings["before"] for one in found], inputs.profiles[:3])
        for one in found:
            command = ["diff", "before.wlprof", "after.wlprof", "--format", "json"]
            alone = inputs.alone("comparison.json", *command, before_wlprof=one.settings["before"], after_wlprof=one.input)
            self.assertEqual(one.path.read_bytes(), alone)

    def test_a_recorded_history(self):
        history = self.folder / "history"
        for number, path in enumerate(inputs.profiles[:4]):
            for name in ("app", "other")[: 1 + (number < 2)]:
                record = ["record", path, "--store", history, "--name", name, "--commit", f"c{number}" * 20, "--branch", "main"]
                warpline_does(*record)
        found = cluster.diff(history=history, name="app", output=self.folder / "out", **self.common)
        self.assertEqual([one.input for one in found], [f"app@{f'c{n}' * 5}" for n in (1, 2, 3)])
        for one, before, after in zip(found, inputs.profiles, inputs.profiles[1:4]):
            # What one process makes of the profiles that were recorded, to the byte.
            command = ["diff", "before.wlprof", "after.wlprof", "--format", "json"]
            alone = inputs.alone("comparison.json", *command, before_wlprof=before, after_wlprof=after)
            self.assertEqual(one.path.read_bytes(), alone)
        again = cluster.diff(history=history, name="app", **self.common)
        self.assertEqual([one.reused for one in again], [True] * 3)
        # Names are histories of their own; a baseline is a commit, or a file.
        every = cluster.diff(history=history, **self.common)
        self.assertEqual(sorted(one.input[:5] for one in every), ["app@c"] * 3 + ["other"])
        against = cluster.diff(history=history, name="app", baseline="c0c0c0", **self.common)
        self.assertEqual({one.settings["before"] for one in against}, {f"app@{'c0' * 5}"})
        self.assertEqual((len(against), against[0].sha256), (3, found[0].sha256))
        self.assertEqual(len(cluster.diff(history=history, name="app", baseline=inputs.profiles[0], **self.common)), 4)
        for wrong, words in (
            (lambda: cluster.diff(history=history, baseline="feed", **self.common), "no recording is of such a commit"),
            (lambda: cluster.diff(history=history, branch="none", **self.common), "nothing is recorded"),
            (lambda: cluster.diff(history=self.folder, **self.common), "store"),
            (lambda: cluster.diff(inputs.profiles, name="app", **self.common), "history"),
        ):
            with self.assertRaisesRegex(cluster.ClusterError, words):
                wrong()
        # A damaged profile is reported, and the history goes on around it.
        (damaged,) = history.joinpath("objects").glob(f"*/{self.object_of(history, 1)}.wlprof")
        damaged.write_bytes(b"no profile")
        with self.assertLogs("warpline.cluster", "WARNING") as told:
            rest = cluster.diff(history=history, name="app", **self.common)
        self.assertEqual([one.settings["before"] for one in rest], [f"app@{f'c{n}' * 5}" for n in (0, 2)])
        self.assertIn("damaged", told.output[0])

    def object_of(self, history, number):
        """The profile of a commit."""
        records = [json.loads(path.read_text()) for path in history.glob("records/app-*/*.json")]
        (found,) = [record["object"] for record in records if record["commit"].startswith(f"c{number}")]
        return found

    def test_broken_limits_are_told(self):
        limits = self.folder / "limits.toml"
        limits.write_text('[program]\n"global.sectors" = { soft = 1 }\n')
        against = cluster.diff(inputs.profiles[:3], baseline=inputs.profiles[0], limits=limits, **self.common)
        self.assertEqual([one.error for one in against], [None] * 3)
        self.assertEqual([one.exit_code for one in against], [0, 5, 5])

    def test_a_single_node_of_a_merge(self):
        ranks = self.folder / "ranks"
        ranks.mkdir()
        for path in inputs.profiles:
            shutil.copy(path, ranks)
        found = cluster.merge(ranks, self.folder / "all.wlprof", **self.common)
        self.assertEqual((found.profiles, found.tasks, found.failed), (10, 1, []))
        self.assertEqual(found.path.read_bytes(), inputs.merged(inputs.profiles))

    def test_a_tree(self):
        found = cluster.merge(inputs.profiles, self.folder / "all.wlprof", fan_in=3, **self.common)
        self.assertEqual((found.profiles, found.tasks), (10, 6))
        self.assertEqual(found.path.read_bytes(), inputs.merged(inputs.profiles))


class Datasets(Case):
    """What `warpline export` writes, where this build of it has Parquet."""

    def files(self, folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def test_a_dataset(self):
        alone, dataset = self.folder / "alone", self.folder / "dataset"
        command = ["export", alone, *inputs.profiles, "--label", "commit=1a2b"]
        if warpline_ends(*command) == 6:
            with self.assertRaisesRegex(cluster.ClusterError, "without Parquet"):
                cluster.export(inputs.profiles, dataset, **self.common)
            self.skipTest("this build of warpline has no Parquet")
        found = cluster.export(inputs.profiles, dataset, labels={"commit": "1a2b"}, **self.common)
        self.assertEqual((found.failed, [one.reused for one in found]), ([], [False] * 10))
        self.assertEqual(self.files(dataset), self.files(alone))
        # What somebody removed or damaged comes from the store.
        first, second = sorted(dataset.rglob("*.parquet"))[:2]
        first.unlink()
        second.write_bytes(second.read_bytes()[:-1])
        found = cluster.export([*inputs.profiles, inputs.traces[0]], dataset, labels={"commit": "1a2b"}, **self.common)
        self.assertEqual([one.reused for one in found], [True] * 10 + [False])
        self.assertEqual([one.input for one in found.failed], [inputs.traces[0]])
        self.assertEqual(self.files(dataset), self.files(alone))
        with self.assertRaisesRegex(cluster.ClusterError, "no dataset"):
            cluster.export(inputs.profiles, inputs.folder, **self.common)
        manifest = dataset / "dataset.json"
        manifest.write_text(manifest.read_text().replace('"version": 1,', '"version": 99,', 1))
        with self.assertRaisesRegex(cluster.ClusterError, "version 99"):
            cluster.export(inputs.profiles[0], dataset, labels={"commit": "1a2b"}, **self.common)


class Kept(Case):
    def test_what_is_finished_is_not_made_again(self):
        first = cluster.merge(inputs.profiles, fan_in=3, **self.common)
        before = self.kept()
        again = cluster.merge(inputs.profiles, fan_in=3, **self.common)
        self.assertEqual((first.tasks_reused, again.tasks_reused, again.reused), (0, 6, True))
        self.assertEqual(self.kept(), before)
        # Appended ones leave complete nodes as they are.
        more = cluster.merge([*inputs.profiles[:9], inputs.profiles[0], inputs.profiles[9]], fan_in=3, **self.common)
        self.assertEqual((more.profiles, more.tasks_reused), (11, 4))

    def test_content_counts_and_names_do_not(self):
        other = self.folder / "other name.wltrace"
        shutil.copy(inputs.traces[0], other)
        (first,) = cluster.simulate(inputs.traces[0], "a100", **self.common)
        (second,) = cluster.simulate(other, "a100", **self.common)
        self.assertEqual((first.reused, second.reused, second.path), (False, True, first.path))
        shutil.copy(inputs.traces[1], other)
        (third,) = cluster.simulate(other, "a100", **self.common)
        self.assertEqual(third.reused, False)
        self.assertNotEqual(third.sha256, first.sha256)

    def test_damaged_results_are_made_again(self):
        (made,) = cluster.simulate(inputs.traces[0], "a100", **self.common)
        whole, record = made.path.read_bytes(), made.path.with_suffix(".record")
        text = record.read_bytes()
        turned = bytes([whole[len(whole) // 2] ^ 1])
        for damage in (
            lambda: made.path.write_bytes(whole[: len(whole) // 2] + turned + whole[len(whole) // 2 + 1 :]),
            lambda: made.path.write_bytes(whole[:-1]),
            lambda: made.path.write_bytes(b""),
            lambda: made.path.unlink(),
            lambda: record.unlink(),
            lambda: record.write_bytes(text[:-2]),
            lambda: record.write_bytes(text.replace(b'"exit_code":0', b'"exit_code":7')),
            lambda: record.write_bytes(b"[]"),
            lambda: record.write_bytes(b'{"check":[]}'),
        ):
            damage()
            (again,) = cluster.simulate(inputs.traces[0], "a100", **self.common)
            self.assertEqual((again.reused, again.path.read_bytes()), (False, whole))
            (kept,) = cluster.simulate(inputs.traces[0], "a100", **self.common)
            self.assertTrue(kept.reused)

    def test_scratch_of_the_dead_is_swept(self):
        cluster.Store(self.store)
        left = self.store / "scratch" / f"{os.uname().nodename}.{2**22 + 1}.left"
        left.mkdir(parents=True)
        cluster.simulate(inputs.traces[0], "a100", **self.common)
        self.assertEqual(list(self.store.joinpath("scratch").iterdir()), [])


class Told(Case):
    def test_unusable_inputs_are_named_and_the_rest_is_done(self):
        damaged = self.folder / "damaged.wlprof"
        content = bytearray(Path(inputs.profiles[0]).read_bytes())
        content[len(content) // 2] ^= 0x10
        damaged.write_bytes(content)
        other_model = self.folder / "other.wlprof"
        (simulated,) = cluster.simulate(inputs.traces[0], "h100", **self.common)
        shutil.copy(simulated.path, other_model)
        missing = self.folder / "mïssing\n.wlprof"
        good = inputs.profiles
        mixed = [*good[:4], damaged, *good[4:6], missing, other_model, *good[6:]]
        found = cluster.merge(mixed, self.folder / "all.wlprof", **self.common)
        self.assertEqual(found.profiles, 10)
        self.assertEqual([one.input for one in found.failed], [str(damaged), str(missing), str(other_model)])
        self.assertEqual([one.exit_code for one in found.failed], [3, 3, 2])
        with_damaged = inputs.merged([*good, damaged])
        self.assertIn("damaged.wlprof", found.failed[0].error)
        self.assertIn("No such file", found.failed[1].error)
        self.assertIn("h100", found.failed[2].error)
        # The whole reports what was damaged.
        self.assertEqual(found.path.read_bytes(), with_damaged)
        found = cluster.merge(mixed, fan_in=3, **self.common)
        self.assertEqual((found.profiles, len(found.failed)), (10, 3))
        self.assertEqual(found.path.read_bytes(), with_damaged)
        # Also where they fill nodes of their own.
        second = self.folder / "damaged too.wlprof"
        second.write_bytes(content[:-1])
        found = cluster.merge([*good[:2], other_model, other_model, damaged, second], fan_in=2, **self.common)
        self.assertEqual((found.profiles, [one.exit_code for one in found.failed]), (2, [2, 2, 3, 3]))
        self.assertEqual(found.path.read_bytes(), inputs.merged([*good[:2], damaged, second]))
        found = cluster.merge([damaged, second, *good[:2]], fan_in=2, **self.common)
        self.assertEqual(found.path.read_bytes(), inputs.merged([*good[:2], damaged, second]))

    def test_nothing_usable(self):
        with self.assertRaisesRegex(cluster.Damaged, "none of 2 profiles"):
            cluster.merge([inputs.traces[0], self.folder / "missing"], **self.common)
        (found,) = cluster.simulate(inputs.profiles[0], "a100", **self.common)
        self.assertEqual((found.path, found.exit_code), (None, 3))
        self.assertIn(inputs.profiles[0], found.error)
        with self.assertRaises(warpline.WarplineError):
            found.load()

    def test_what_cannot_be_done(self):
        for wrong, words in (
            (lambda: cluster.merge([], **self.common), "there is no profile"),
            (lambda: cluster.simulate(inputs.traces, [], **self.common), "no model"),
            (lambda: cluster.simulate(inputs.traces, "a100", "--source-root /", **self.common), "trace alone"),
            (lambda: cluster.simulate(inputs.traces, "a100", "-o=x", **self.common), "output"),
            (lambda: cluster.predict(inputs.profiles, options="--check ./a", **self.common), "not run here"),
            (lambda: cluster.diff(inputs.profiles[:1], **self.common), "two profiles"),
            (lambda: cluster.diff(inputs.profiles, format="pdf", **self.common), "pdf"),
            (lambda: cluster.merge(inputs.profiles, store=inputs.folder, client=client), "not empty"),
            (lambda: cluster.merge(inputs.profiles, store=self.store, client="nowhere"), "nowhere"),
        ):
            with self.assertRaisesRegex(cluster.ClusterError, words):
                wrong()

    def test_workers_that_lack_something_say_so(self):
        store = cluster.Store(self.store)
        site = site_of(store, warpline.__version__)
        self.assertEqual(client.submit(ready, site).result().id, store.id)
        given = {"store": str(store.folder), "store_id": store.id, "program": site.program, "package": site.package}
        other = cluster.Store(self.folder / "another")
        for change, words in (
            ({"store": "/nowhere"}, "shared storage"),
            ({"store": str(other.folder)}, "another folder"),
            ({"program": "0" * 64}, "another build"),
            ({"package": "0.0.0"}, "has warpline"),
        ):
            with self.assertRaisesRegex(cluster.ClusterError, words):
                client.submit(ready, Site(**{**given, **change})).result()


def one(number):
    return Outcome(key=f"{number:064}", sha256=f"{number:064}")


def several(children):
    return Outcome(key=f"{len(children):064}", notes=tuple(child.key[-4:] for child in children))


class Graphs(Case):
    def test_the_scheduler_holds_a_window_of_a_long_graph(self):
        nodes = []
        for group in range(200):
            nodes += [Node(one, (group * 10 + at,)) for at in range(10)]
            nodes.append(Node(several, (), tuple(range(group * 11, group * 11 + 10))))
        most = 0

        def look(_position, _outcome):
            nonlocal most
            most = max(most, len(scheduler.scheduler.tasks))

        found = execute(nodes, "test", client, done=look)
        self.assertEqual(len(found), 2200)
        self.assertEqual(found[10].notes, tuple(f"{at:04}" for at in range(10)))
        # 64 ahead, their results not fetched yet, and children of parents that wait.
        self.assertLess(most, 400)
        self.assertLess(max(len(pickle.dumps(outcome)) for outcome in found.values()), 1000)

    def test_the_dashboard_answers(self):
        with urllib.request.urlopen(client.dashboard_link, timeout=30) as answer:
            self.assertEqual(answer.status, 200)
            self.assertIn("bokeh", answer.read().decode().lower())


class CommandLine(Case):
    def run_command(self, *arguments, code=0):
        done = python("-m", "warpline", "cluster", *arguments, "--scheduler", scheduler.scheduler_address, "--store", self.store)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_commands(self):
        output = self.folder / "profiles"
        done = self.run_command("sim", *inputs.traces[:2], "--gpu", "a100,v100", "-o", output)
        self.assertIn("4 of 4 results, 0 from the store", done.stderr)
        self.assertIn("dashboard http://", done.stderr)
        self.assertNotIn("\r", done.stderr)
        index = json.loads(output.joinpath("index.json").read_text())
        self.assertEqual([row["file"] for row in index["results"]], [f"run{n}.{m}.wlprof" for n in (0, 1) for m in ("a100", "v100")])
        names = self.folder / "names"
        names.write_text("".join(f"{path}\n" for path in inputs.profiles))
        merged = self.folder / "all.wlprof"
        done = self.run_command("merge", "--files-from", names, self.folder / "missing", "-o", merged, "--quiet", code=7)
        self.assertIn("left out", done.stderr)
        self.assertNotIn("dashboard", done.stderr)
        self.assertEqual(merged.read_bytes(), inputs.merged(inputs.profiles))
        done = self.run_command("diff", *inputs.profiles[:2], "--format", "markdown")
        path, after, before = done.stdout.rstrip("\n").split("\t")
        self.assertEqual((after, before), (inputs.profiles[1], f"before={inputs.profiles[0]}"))
        self.assertTrue(Path(path).read_text().startswith("#"))
        done = self.run_command("predict", inputs.profiles[0], "--kernel", "scale", "--set", "n=100,200", "--format", "csv")
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.run_command("merge", inputs.traces[0], "-o", merged, code=3)
        self.run_command("sim", inputs.traces[0], "--gpu", "none", code=2)
        self.run_command("sim", inputs.traces[0], "--gpu", "a100", "--options=--gpu v100", code=2)

    def test_processes_of_this_machine_by_default(self):
        script = self.folder / "script.py"
        script.write_text(
            "import sys, warpline.cluster\n"
            "if __name__ == '__main__':\n"
            "    found = warpline.cluster.merge(sys.argv[2:], store=sys.argv[1], workers=2)\n"
            "    print(found.profiles, found.path)\n"
        )
        done = python(script, self.store, *inputs.profiles)
        self.assertEqual(done.returncode, 0, done.stderr)
        count, path = done.stdout.split()
        self.assertEqual((count, Path(path).read_bytes()), ("10", inputs.merged(inputs.profiles)))


if __name__ == "__main__":
    unittest.main()
