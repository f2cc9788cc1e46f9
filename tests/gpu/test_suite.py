"""What of the GPU suite can be tested without a GPU: python3 -m unittest, in this folder."""
import os
import stat
import tempfile
import unittest

import collect
import equality
import fidelity
import overhead
import suite


def profile(sites, **more):
    found = [{"file": "/src/a.cu", "line": line, "column": 1, "op": "load", "space": "global", "kernel": 0, "id": line,
              "metrics": {"lanes": lanes, "bytes": 4 * lanes, "requests": requests, "sectors": 4, "ideal_sectors": 4,
                          "lines_touched": {}}} for line, lanes, requests in sites]
    return {"sites": found, "kernels": [{"id": 0, "name": "k"}], "branches": [], "blocks": [], "not_seen": [],
            "run": {"complete": True, "dropped_records": 0}, **more}


class Equality(unittest.TestCase):
    def test_equal_sites_are_counted(self):
        same = profile([(1, 32, 1), (2, 64, 2)])
        result = equality.compare(same, same)
        self.assertEqual((result["sites"], result["equal"], result["errors"], result["differences"]), (2, 2, [], []))

    def test_other_lanes_are_errors_and_other_requests_differences(self):
        result = equality.compare(profile([(1, 32, 1), (2, 64, 2), (3, 8, 1)]), profile([(1, 31, 1), (2, 64, 4)]))
        self.assertEqual((result["sites"], result["equal"]), (3, 0))
        # Lanes, bytes, and a site that is not there.
        self.assertEqual(len(result["errors"]), 3)
        self.assertEqual(len(result["differences"]), 1)

    def test_kernels_go_by_name(self):
        other = profile([(1, 32, 1)], kernels=[{"id": 7, "name": "k"}])
        other["sites"][0]["kernel"] = 7
        self.assertEqual(equality.compare(profile([(1, 32, 1)]), other)["equal"], 1)

    def test_textures_are_seen_on_the_cpu_device_only(self):
        hidden = [{"file": "/src/a.cu", "line": 2, "what": "on a GPU: a texture fetch"}]
        result = equality.compare(profile([(1, 32, 1), (2, 64, 2)]), profile([(1, 32, 1)], not_seen=hidden))
        self.assertEqual((result["sites"], result["equal"], result["errors"]), (1, 1, []))

    def test_what_was_dropped_is_an_error(self):
        dropped = profile([], run={"complete": True, "dropped_records": 5})
        self.assertEqual(len(equality.compare(profile([]), dropped)["errors"]), 1)


class Overhead(unittest.TestCase):
    NATIVE = "k(int)\toriginal\t1.0\t10\t0\t4\nk(int)\toriginal\t3.0\t10\t0\t4\n"
    TRACED = "k(int)\ttraced\t10.0\t40\t16\t2\nk(int)\ttraced\t10.0\t40\t16\t2\n"

    def test_times_add_up_by_kernel(self):
        native = overhead.read_times(self.NATIVE)
        self.assertEqual(native["k(int)"], {"form": "original", "ms": 4.0, "launches": 2, "registers": 10, "local": 0,
                                            "resident": 4})
        self.assertEqual(overhead.ratios(native, overhead.read_times(self.TRACED)), {"k(int)": 5.0})

    def test_a_launch_without_hooks_spoils_a_ratio(self):
        mixed = overhead.read_times(self.TRACED + "k(int)\toriginal\t1.0\t10\t0\t4\n")
        self.assertEqual(overhead.ratios(overhead.read_times(self.NATIVE), mixed), {})

    def test_the_quickest_run_counts(self):
        runs = [overhead.read_times(self.TRACED), overhead.read_times(self.NATIVE)]
        self.assertEqual(overhead.best(runs), runs[1])
        self.assertEqual(overhead.best([]), {})


class Fidelity(unittest.TestCase):
    COMPARISON = {
        "programs": [{"profile": "a", "notes": ["x"], "kernels": [
            {"kernel": "k", "figures": [{"metric": "L2 hit rate", "error": -7.0}]},
            {"kernel": "l", "figures": [{"metric": "L2 hit rate", "error": 1.0}]}]}],
        "summary": [{"metric": "L2 hit rate", "kernels": 2, "median": 1.0, "mean": 4.0, "worst": 7.0, "worst_kernel": "k",
                     "points": True}]}

    def test_goals_are_judged(self):
        text = "\n".join(fidelity.table(self.COMPARISON))
        self.assertIn("mean 6.0 points: met | 1 of 2", text)
        self.assertIn("- a: x", text)

    def test_counters_are_asked_for_as_ncu_wants_it(self):
        with tempfile.TemporaryDirectory() as folder:
            ncu = os.path.join(folder, "ncu")
            with open(ncu, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\necho \'"ID"\' "$@"\n')
            os.chmod(ncu, os.stat(ncu).st_mode | stat.S_IXUSR)
            text, why = fidelity.count(ncu, "a,b", "all", ["/bin/app", "9"], dict(os.environ), 10, ["--x"])
            self.assertEqual((text.strip(), why), (
                '"ID" --csv --clock-control none --cache-control all --x --metrics a,b /bin/app 9', None))
            text, why = fidelity.count(os.path.join(folder, "none"), "a", "all", ["app"], dict(os.environ), 10)
            self.assertIsNone(text)
            self.assertIn("No such file", why)


class Collecting(unittest.TestCase):
    def test_steps_are_done_once_and_none_begins_when_the_time_is_over(self):
        with tempfile.TemporaryDirectory() as folder:
            done = []

            def work(left):
                done.append(left)
                return {"code": 0, "seconds": 0.0, "output": "", "errors": []}

            collector = collect.Collector(suite.Suite(folder, "cpu"), "h100", 100)
            collector.step("a", work)
            collector.step("a", work)
            self.assertEqual(len(done), 1)
            # Another visit goes on with what is not there.
            later = collect.Collector(suite.Suite(folder, "cpu", resume=True), "h100", 100)
            later.step("a", work)
            later.step("b", work)
            self.assertEqual(len(done), 2)
            over = collect.Collector(later.run, "h100", 1)
            self.assertIsNone(over.step("c", work))
            self.assertNotIn("c", over.run.outcomes)
            # A run that does not resume leaves nothing of the earlier ones.
            self.assertEqual(suite.Suite(folder, "cpu").outcomes, {})

    def test_shapes_are_those_that_a_block_can_have(self):
        shapes = collect.shapes((1024,))
        self.assertIn("16x1x64", shapes)
        self.assertNotIn("8x1x128", shapes)
        self.assertEqual(len(shapes), len(set(shapes)))


if __name__ == "__main__":
    unittest.main()
