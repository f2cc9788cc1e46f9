"""`warpline query`, through the program and the package."""

import csv
import io
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

import warpline
from common import DATASET, FOLDER, PROGRAM, profile
from common import warpline as program


def query(*arguments):
    environment = {**os.environ, "WARPLINE_PYTHON": sys.executable}
    return subprocess.run([str(PROGRAM), "query", *map(str, arguments)], capture_output=True, text=True, env=environment)


def answer(sql):
    done = query(DATASET, sql, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def files():
    return {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*")}


class Views(unittest.TestCase):
    def test_every_view_answers(self):
        with warpline.dataset(DATASET) as dataset:
            from warpline._views import VIEWS

            self.assertEqual(list(dataset.views), [view.name for view in VIEWS])
            for view in VIEWS:
                with self.subTest(view.name):
                    dataset.sql(view.name).fetchall()
            for table in dataset.tables:
                with self.subTest(table):
                    self.assertIn("rank", dataset.sql(table).columns)

    def test_hot_lines_are_the_profile_s(self):
        found = answer("SELECT * FROM hot_lines WHERE commit = '2b3c' AND model = 'a100'")
        rows = [
            (metrics["sectors"], line["line"])
            for line in profile()["lines"]
            for space, metrics in line["metrics"].items()
            if space != "shared"
        ]
        self.assertEqual([row["sectors"] for row in found], sorted((one for one, _ in rows), reverse=True))
        self.assertIn((found[0]["sectors"], found[0]["line"]), rows)
        self.assertAlmostEqual(sum(row["share"] for row in found), 1.0)

    def test_imbalance_names_the_rank(self):
        found = [row for row in answer("rank_imbalance") if row["commit"] == "1a2b" and row["model"] == "a100"]
        self.assertTrue(found)
        for row in found:
            # Ranks 0 and 1 have the demo's traffic, rank 2 four times that.
            self.assertEqual((row["ranks"], row["most_rank"], row["least_rank"]), (3, 2, 0))
            self.assertAlmostEqual(row["imbalance"], 2.0)
            self.assertEqual(row["most"], 4 * row["least"])

    def test_places_of_merged_ranks(self):
        def merged(sql):
            return json.loads(query(FOLDER / "merged", sql, "--format", "json").stdout)

        found = merged("SELECT * FROM unbalanced_places WHERE place = 'kernel' AND figure = 'sectors'")
        self.assertTrue(found)
        for row in found:
            self.assertEqual((row["ranks"], row["most_rank"], row["least_rank"]), (3, 2, 0))
            self.assertEqual((row["most"], round(row["imbalance"], 9)), (4 * row["least"], 2.0))
        places = {row["place"] for row in merged("SELECT DISTINCT place FROM rank_statistics")}
        # The launches of the demo have no call path.
        self.assertLessEqual({"kernel", "line", "site", "allocation"}, places)
        lost = merged("SELECT sum(lanes_lost) AS lost FROM partial_blocks WHERE model = 'a100'")
        blocks = profile("whole.wlprof")["blocks"]
        self.assertEqual(lost[0]["lost"], sum(block["lanes_lost"] for block in blocks))

    def test_requests_agree_with_lines(self):
        sql = """SELECT r.line, r.requests, l.requests AS of_profile, r.sectors, l.sectors AS sectors_of_profile FROM
            (SELECT run, kernel_name, line, space, sum(requests) AS requests, sum(sectors) AS sectors FROM request_lines GROUP BY ALL) r
            JOIN lines l USING (run, kernel_name, line, space)"""
        rows = answer(sql)
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual((row["requests"], row["sectors"]), (row["of_profile"], row["sectors_of_profile"]))

    def test_rates_are_those_of_each_model(self):
        found = {row["model"]: row for row in answer("hit_rates_by_model") if row["commit"] == "2b3c" and row["space"] == "global"}
        metrics = profile()["kernels"][0]["metrics"]["global"]
        self.assertAlmostEqual(found["a100"]["l1_hit_rate"], metrics["l1"]["load_hits"] / metrics["l1"]["load_lookups"])
        other = metrics["other_models"]["v100"]["l1"]
        self.assertAlmostEqual(found["v100"]["l1_hit_rate"], other["load_hits"] / other["load_lookups"])


class CommandLine(unittest.TestCase):
    def test_lists(self):
        views = query(DATASET, "--views")
        self.assertEqual(views.returncode, 0, views.stderr)
        self.assertIn("hot_lines", views.stdout)
        self.assertIn("allocations", query(DATASET, "--tables").stdout)
        self.assertRegex(query(DATASET, "--tables", "lines").stdout, r"sectors +integer +sectors")

    def test_forms_tell_the_same(self):
        sql = "SELECT kernel_name, line, sectors FROM lines ORDER BY ALL"
        rows = answer(sql)
        done = query(DATASET, sql, "--format", "csv")
        read = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(read, [{name: str(value) for name, value in row.items()} for row in rows])
        text = query(DATASET, sql, "--rows", "1")
        self.assertEqual(len(text.stdout.splitlines()), 2)
        self.assertIn("--rows 0", text.stderr)
        self.assertEqual(len(query(DATASET, sql, "--rows", "0").stdout.splitlines()), len(rows) + 1)

    def test_nothing_is_written_and_nothing_else_read(self):
        before = files()
        there = FOLDER / "demo.wlprof"
        hostile = (
            f"COPY (SELECT 1) TO '{DATASET}/x.csv'",
            f"SELECT 1; COPY (SELECT 1) TO '{DATASET}/x.csv'",
            f"COPY lines TO '{DATASET}/lines/x.parquet'",
            f"EXPORT DATABASE '{DATASET}/out'",
            f"ATTACH '{DATASET}/x.db'",
            f"SELECT * FROM query('COPY (SELECT 1) TO ''{DATASET}/y.csv''')",
            f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{DATASET}/x.csv'",
            "CREATE TABLE t AS SELECT 1",
            "DROP VIEW lines",
            "SET enable_external_access = true",
            "INSTALL httpfs",
            "LOAD httpfs",
            f"SELECT * FROM read_blob('{there}')",
            f"SELECT * FROM read_blob('{DATASET}/../demo.wlprof')",
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELECT * FROM '/etc/passwd'",
            "",
        )
        with warpline.dataset(DATASET) as dataset:
            for sql in hostile:
                with self.subTest(sql), self.assertRaises(warpline.WarplineError):
                    dataset.batches(sql)
                with self.subTest(sql), self.assertRaises(warpline.WarplineError):
                    dataset.sql(sql).fetchall()
        for sql in (hostile[0], hostile[-2]):
            done = query(DATASET, sql)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertTrue(done.stderr.startswith("warpline: "), done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(files(), before)

    def test_what_is_no_dataset_is_told(self):
        done = query(FOLDER / "nowhere", "--views")
        self.assertEqual(done.returncode, 3)
        self.assertIn("warpline export", done.stderr)
        with self.assertRaisesRegex(warpline.WarplineError, "another schema"):
            odd = FOLDER / "odd"
            odd.mkdir()
            (odd / "dataset.json").write_text('{"schema": "x", "version": 1, "partitions": [], "tables": []}')
            warpline.dataset(odd)

    def test_names_in_the_dataset_s_description_are_no_sql(self):
        odd = FOLDER / "quoted"
        odd.mkdir()
        column = {"name": 'a" FROM x; --', "type": "integer", "unit": "", "optional": False, "description": "d"}
        table = {"name": 't"; DROP VIEW x; --', "description": "d", "columns": [column]}
        manifest = {"schema": "warpline.dataset", "version": 1, "partitions": [], "tables": [table]}
        (odd / "dataset.json").write_text(json.dumps(manifest))
        with warpline.dataset(odd) as dataset:
            self.assertEqual(dataset.sql(table["name"]).columns, [column["name"]])

    def test_text_of_a_program_does_not_steer_the_terminal(self):
        done = query(DATASET, "SELECT chr(27) || '[2J' AS a")
        self.assertNotIn("\x1b", done.stdout)

    def test_a_missing_package_is_told_with_its_cure(self):
        with mock.patch.dict(os.environ, WARPLINE_PYTHON=sys.executable, PYTHONPATH=""):
            done = program("query", DATASET, "--views")
        self.assertEqual(done.returncode, 6)
        self.assertIn("pip install", done.stderr)


if __name__ == "__main__":
    unittest.main()
