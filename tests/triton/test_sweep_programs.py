"""Sweeps over block shapes and macros of a CUDA C++ program, against figures by hand."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import warpline
from warpline._sweep import _builds

SOURCE = Path(__file__).parent / "sweep.cu"
#: Requests of an access: each warp moves a row of a tile.
REQUESTS = 128 * 128 // 32


class Programs(unittest.TestCase):
    """Each with a cache of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        cache = mock.patch.object(_builds, "cache_folder", lambda: self.folder / "cache")
        cache.start()
        self.addCleanup(cache.stop)

    def sweep(self, configs, source=SOURCE, name="transpose", **options):
        return warpline.sweep(source, configs, name=name, gpu="a100", **options)

    def fails(self, message, *arguments, **options):
        with self.assertRaisesRegex(warpline.WarplineError, message):
            self.sweep(*arguments, **options)

    def test_macros_and_shapes(self):
        shapes = [{"block": "32x8"}, {"PADDING": 1}, {"block": (32, 4), "PADDING": 1}, {"block": "32x64"}, {"PADDING": 9}, {"block": "1x1x65"}, {"ROWS": 64}]
        frame = self.sweep(shapes)
        self.assertEqual([None if value != value else value for value in frame.block], ["32x8x1", None, "32x4x1", "32x64x1", None, "1x1x65", None])
        # Rows of 32 lanes load and store 4 sectors; the tile's columns lie in one bank without padding.
        for number in (0, 1, 2):
            self.assertEqual(frame.global_requests[number], 2 * REQUESTS)
            self.assertEqual(frame.global_sectors[number], 2 * REQUESTS * 4)
            self.assertEqual(frame.blocks[number], 16)
            self.assertEqual(frame.decision[number], "worth measuring")
        self.assertEqual(list(frame.shared_memory[:3]), [32 * 32 * 4, 32 * 33 * 4, 32 * 33 * 4])
        self.assertEqual(list(frame.threads[:3]), [256, 256, 128])
        self.assertEqual(frame.shared_wavefronts[0], REQUESTS * (1 + 32))
        self.assertEqual(frame.bank_conflicts[0], REQUESTS * 31)
        self.assertEqual((frame.shared_wavefronts[1], frame.bank_conflicts[1]), (REQUESTS * 2, 0))
        self.assertEqual(frame.reason[3], "threads: 2048 per block, a100 allows 1024")
        self.assertRegex(frame.reason[4], r"^does not compile: .*sweep.cu:9.*PADDING is 8 at most")
        self.assertEqual(list(frame.decision[3:]), ["hopeless"] * 4)
        self.assertEqual(frame.reason[6], "CUDA refuses the launch: a block has at most 1024 threads, not 2048")
        self.assertEqual(frame.reason[5], "threads: 65 along z, CUDA allows 64")

    def test_results_are_kept_until_a_file_changes(self):
        source, header = self.folder / "copy.cu", self.folder / "rows.h"
        source.write_text('#include "rows.h"\n' + SOURCE.read_text())
        header.write_text("#define ROWS 8\n")
        configs = [{"PADDING": 1}]
        self.assertEqual(list(self.sweep(configs, source).threads), [256])
        with mock.patch.object(_builds, "run", side_effect=_reports_only(_builds.run)):
            self.assertEqual(list(self.sweep(configs, source).threads), [256])
        header.write_text("#define ROWS 16\n")
        self.assertEqual(list(self.sweep(configs, source).threads), [512])

    def test_errors(self):
        self.fails("none.cu: no such file", [{}], Path("none.cu"))
        self.fails("a sweep of no configurations: pass a list of dictionaries", [])
        self.fails("block='32x' in .* is no shape: pass 256, '32x8'", [{"block": "32x"}])
        self.fails("'A-B' in .* is no name of a macro", [{"A-B": 1}])
        self.fails("8 is no configuration: pass a dictionary", [8])
        self.fails("the grid of a CUDA C\\+\\+ launch belongs to its configuration", [{}], grid=(1,))
        self.fails("no configuration can be compiled: .*PADDING is 8 at most", [{"PADDING": 9}])
        self.fails("no launch of a kernel that matches 'scan' was recorded: pass name= .*; the program has .*transpose", [{}], name="scan")
        self.fails("several kernels match '': .*; pass name=", [{}], name=None)
        self.fails("name='\\(' is no regular expression", [{}], name="(")
        self.fails("sets blocks, which is a column of figures", [{"blocks": 1}])
        self.fails("ends with exit code 2: n has to be a multiple of 32", [{}], args=[100])


def _reports_only(original):
    """Neither compiles nor runs."""

    def run(name, command, *arguments, **options):
        if command in ("cc", "run"):
            raise AssertionError(f"warpline {command} was started again")
        return original(name, command, *arguments, **options)

    return run


if __name__ == "__main__":
    unittest.main()
