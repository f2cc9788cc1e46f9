"""The dataset in the readers that it is for. Each must find the figures of the profile."""

import unittest

import duckdb
import pandas
import polars
import pyarrow.dataset
import pyarrow.parquet
from common import DATASET, FOLDER, profile


def sectors():
    """Of the lines of one run."""
    return sum(metrics["sectors"] for line in profile()["lines"] for metrics in line["metrics"].values())


#: Three ranks and a single run, each on two models.
RUNS = 8


class Readers(unittest.TestCase):
    def test_duckdb(self):
        files = f"read_parquet('{DATASET}/lines/**/*.parquet', hive_partitioning = true)"
        found = duckdb.sql(f"SELECT commit, rank, model, sum(sectors) FROM {files} GROUP BY ALL ORDER BY ALL").fetchall()
        self.assertEqual(len(found), RUNS)
        self.assertEqual({row[3] for row in found}, {sectors()})
        self.assertEqual({row[:3] for row in found if row[0] == "2b3c"}, {("2b3c", 0, "a100"), ("2b3c", 0, "v100")})

    def test_pandas(self):
        frame = pandas.read_parquet(DATASET / "lines")
        self.assertEqual(set(frame.groupby("run", observed=True)["sectors"].sum()), {sectors()})
        one = pandas.read_parquet(DATASET / "lines", filters=[("rank", "==", 2), ("model", "==", "a100")])
        self.assertEqual(one["sectors"].sum(), sectors())
        self.assertEqual(str(frame["kernel_name"].dtype), "category")

    def test_polars(self):
        frame = polars.scan_parquet(f"{DATASET}/lines/**/*.parquet", hive_partitioning=True)
        found = frame.group_by("run").agg(polars.col("sectors").sum()).collect()
        self.assertEqual((found.height, set(found["sectors"])), (RUNS, {sectors()}))
        self.assertEqual(set(frame.filter(polars.col("rank") == 1).collect()["commit"]), {"1a2b"})

    def test_statistics_over_ranks_and_blocks(self):
        merged = FOLDER / "merged"
        over = pandas.read_parquet(merged / "rank_statistics")
        kernel = over[(over["place"] == "kernel") & (over["space"] == "global") & (over["figure"] == "sectors")]
        self.assertEqual(list(kernel["most"]), list(4 * kernel["least"]))
        frame = polars.scan_parquet(f"{merged}/rank_statistics/**/*.parquet", hive_partitioning=True)
        same = frame.filter(polars.col("place") == "kernel", polars.col("space") == "global", polars.col("figure") == "sectors")
        self.assertEqual(same.collect()["mean"].to_list(), kernel["mean"].to_list())
        blocks = polars.scan_parquet(f"{merged}/blocks/**/*.parquet", hive_partitioning=True).collect()
        lost = sum(block["lanes_lost"] for block in profile("whole.wlprof")["blocks"])
        self.assertEqual(blocks.filter(polars.col("model") == "a100")["lanes_lost"].sum(), lost)
        self.assertEqual(pandas.read_parquet(merged / "blocks")["lanes_lost"].sum(), blocks["lanes_lost"].sum())

    def test_pyarrow_shows_units_and_the_version(self):
        table = pyarrow.dataset.dataset(DATASET / "lines", partitioning="hive")
        self.assertEqual(table.schema.field("sectors").metadata[b"unit"], b"sectors")
        file = next((DATASET / "lines").rglob("*.parquet"))
        metadata = pyarrow.parquet.read_metadata(file)
        self.assertEqual(metadata.metadata[b"warpline.dataset.version"], b"1")
        self.assertTrue(metadata.created_by.startswith("warpline "))
        names = [metadata.schema.column(at).name for at in range(metadata.num_columns)]
        self.assertIn("RLE_DICTIONARY", metadata.row_group(0).column(names.index("kernel_name")).encodings)
        self.assertEqual(metadata.row_group(0).column(0).compression, "SNAPPY")


if __name__ == "__main__":
    unittest.main()
