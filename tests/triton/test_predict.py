"""Predictions of Triton's kernels, from the addresses of their guarded assembly and the digits of their layouts."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from warpline._binaries import find
from warpline.triton._compiler import parameter_names

HERE = Path(__file__).parent

SCRIPT = """
import warpline.triton
warpline.triton.install()
import numpy as np
import triton
import kernels

def zeros(*shape, dtype="f4"):
    return np.zeros(shape, dtype)

n = 100003
kernels.vector_add[(triton.cdiv(n, 1024),)](zeros(n), zeros(n), zeros(n), n, BLOCK=1024)
kernels.transpose[(10, 7)](zeros(320, 224), zeros(224, 320), 320, 224, BLOCK=32)
kernels.softmax[(128,)](zeros(128, 781), zeros(128, 781), 781, 781, 128, BLOCK=1024)
kernels.strided_copy[(10,)](zeros(81920), zeros(10240), 8, BLOCK=1024)
kernels.twice_rows[(4,)](zeros(100, 32), zeros(100, 32), 100, COLUMNS=32, ROWS=32)
M, N, K = 256, 256, 128
kernels.matmul[(16,)](
    zeros(M, K, dtype="f2"), zeros(K, N, dtype="f2"), zeros(M, N, dtype="f2"), M, N, K, K, 1, N, 1, N, 1,
    BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP=4, ACTIVATION="",
)
"""


class Predictions(unittest.TestCase):
    """Against the simulation of the same launch, with empty caches."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        script, cls.output = Path(cls.folder.name, "script.py"), Path(cls.folder.name, "p.wlprof")
        script.write_text(SCRIPT)
        cold = ["--l2-copies", "cold", "--l2-launches", "flushed"]
        search = os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])
        subprocess.run(
            [find("warpline"), "run", "--gpu", "a100", *cold, "-o", cls.output, "--", sys.executable, script],
            cwd=cls.folder.name, env={**os.environ, "PYTHONPATH": search}, check=True, timeout=300, stdout=subprocess.DEVNULL,
        )
        cls.measured = json.loads(cls.warpline("report", cls.output, "--format", "json"))

    @staticmethod
    def warpline(*arguments):
        return subprocess.run([find("warpline"), *arguments], check=True, capture_output=True, text=True).stdout

    def predict(self, kernel, *arguments):
        return json.loads(self.warpline("predict", self.output, "--kernel", f"^{kernel}", "--format", "json", *arguments))

    def test_recorded_launches_do_what_was_predicted(self):
        for kernel in ("vector_add", "transpose", "softmax", "strided_copy", "twice_rows", "matmul"):
            with self.subTest(kernel):
                found = self.predict(kernel)
                # Another number of warps is another compilation.
                (one,) = found["configurations"]
                row = next(row for row in self.measured["kernels"] if row["name"].startswith(kernel))
                wanted = row["metrics"]["global"]
                self.assertEqual(one["affine_share"], 1)
                self.assertEqual(one["requests"], wanted["requests"])
                self.assertEqual(one["request_sectors"], wanted["sectors"])
                self.assertEqual(one["l1_wavefronts"], wanted["l1_wavefronts"]["data"])
                self.near(one["l2_load_bytes"], 32 * wanted["l2"]["load_lookups"])
                self.near(one["dram_load_bytes"], 32 * wanted["dram"]["read_sectors"])
                self.near(one["dram_store_bytes"], 32 * wanted["dram"]["write_sectors"])

    def near(self, got, wanted):
        self.assertLess(abs(got - wanted), 0.01 * wanted)

    def test_parameters_have_their_names_and_grids_follow_them(self):
        (one,) = self.predict("vector_add", "--set", "n=200000")["configurations"]
        # 196 blocks of 1024 elements, of three arrays of 4 bytes; the last block has 320.
        self.assertEqual(one["grid"], [196, 1, 1])
        self.assertEqual(one["l2_load_bytes"], 2 * 4 * 200000)

    def test_names_are_those_of_the_source(self):
        text = """
  tt.func public @f(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32 loc("n"(#loc))) attributes {} {
  tt.func private @g(%y: i32 loc("y"(#loc)))
"""
        self.assertEqual(parameter_names(text, "f"), ["x", "n"])
        self.assertEqual(parameter_names("tt.func public @f(%arg0: i32, %arg1: i32) {", "f"), ["arg0", "arg1"])
        self.assertEqual(parameter_names("tt.func public @f() {", "f"), [""])
        self.assertEqual(parameter_names("", "f"), [])
