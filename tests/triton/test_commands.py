"""The ways to profile a whole program."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import warpline
from warpline._binaries import find

HERE = Path(__file__).parent

SCRIPT = """
import sys
import numpy as np
import triton
import kernels

def work(n):
    first, second, total = np.ones(n, "f4"), np.ones(n, "f4"), np.zeros(n, "f4")
    kernels.vector_add[(triton.cdiv(n, 256),)](first, second, total, n, BLOCK=256)
    print(total.sum(), sys.argv[1:])

work(1000)
"""


class Commands(unittest.TestCase):
    """Each from start to profile."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.script = Path(self.folder.name, "script.py")
        self.script.write_text(SCRIPT)
        self.output = Path(self.folder.name, "p.wlprof")

    def run_command(self, *command, **environment):
        search = os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])
        done = subprocess.run(
            list(map(str, command)),
            cwd=self.folder.name,
            env={**os.environ, "PYTHONPATH": search, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "2000.0 ['a', '-b']\n")
        return warpline.load(self.output)

    def check(self, profile, model):
        self.assertEqual(profile.model, model)
        self.assertEqual(list(profile.kernels.name), ["vector_add[BLOCK=256]"])
        self.assertEqual(list(profile.allocations.name), ["first", "second", "total"])
        self.assertEqual(profile.launches.path[0], "<module> script.py:12 > work script.py:9")
        self.assertTrue(profile.complete)
        self.assertIn("kernels.py", profile.report())

    def test_as_a_module_of_python(self):
        profile = self.run_command(
            sys.executable, "-m", "warpline", "run", "--gpu", "rtx3090", "-o", self.output, self.script, "a", "-b"
        )
        self.check(profile, "rtx3090")

    def test_another_gpu_is_told_that_triton_would_compile_for_it(self):
        trace = Path(self.folder.name, "p.wltrace")
        command = [sys.executable, "-m", "warpline", "run", "--gpu", "a100", "--trace", trace, "-o", self.output, self.script, "a", "-b"]
        note = "Triton's kernels are those that it made for sm_80"
        self.assertEqual([one for one in self.run_command(*command).data["run"]["notes"] if note in one], [])
        for model, told in ("v100", 1), ("a100", 0):
            done = subprocess.run([find("warpline"), "sim", trace, "--gpu", model, "-o", self.output], capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr.count(f"note: {model}: {note}; for sm_70 it makes others")), (0, told), done.stderr)

    def test_a_program_that_installs_it_as_well_runs_the_same(self):
        self.script.write_text("import warpline.triton\nwarpline.triton.install()\n" + SCRIPT.lstrip())
        self.script.write_text(self.script.read_text().replace("import sys\nimport numpy as np\n", "import sys, numpy as np\n", 1))
        profile = self.run_command(
            sys.executable, "-m", "warpline", "run", "--gpu", "rtx3090", "-o", self.output, self.script, "a", "-b"
        )
        self.check(profile, "rtx3090")

    def test_a_program_that_asks_first_whether_triton_is_there_is_profiled(self):
        self.script.write_text('import importlib.util; importlib.util.find_spec("triton")' + SCRIPT)
        profile = self.run_command(
            sys.executable, "-m", "warpline", "run", "--gpu", "rtx3090", "-o", self.output, self.script, "a", "-b"
        )
        self.check(profile, "rtx3090")

    def test_a_stop_names_the_tensor_and_the_python_lines(self):
        line = next(
            number
            for number, text in enumerate(Path(HERE, "kernels.py").read_text().splitlines(), 1)
            if text.strip() == "x = tl.load(x_ptr + at, mask=inside)"
        )
        done = subprocess.run(
            [sys.executable, "-m", "warpline", "run", "--gpu", "a100", "--stop-at", f"kernels.py:{line}", "-o", self.output, self.script],
            cwd=self.folder.name,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])},
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.stdout, "2000.0 []\n", done.stderr)
        self.assertIn(f"STOP 1 at kernels.py:{line}: global load of", done.stderr)
        self.assertIn("host      <module> (script.py:12) > work (script.py:9)", done.stderr)
        self.assertIn("launch    #0, vector_add[BLOCK=256]<<<4, 128>>>", done.stderr)
        self.assertRegex(done.stderr, r"\n +1 +\(1,0,0\) +0x\w+ +\d+ +\d+ +first \(")

    def test_without_triton_it_is_said_how_to_get_it(self):
        text = "import sys; sys.modules['triton'] = None; import warpline.triton"
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
        self.assertIn("ModuleNotFoundError: warpline.triton needs Triton: pip install triton\n", done.stderr)

    def test_front_ends_that_are_not_served_are_named(self):
        # Where they fail without a driver: each with its own error, within its own modules.
        fails = "def malloc():\n    raise RuntimeError('no driver')\n"
        for path, call, name in [
            ("cupy/memory.py", "import cupy.memory; cupy.memory.malloc()", "CuPy"),
            ("pycuda/driver.py", "import pycuda.driver; pycuda.driver.malloc()", "PyCUDA"),
            ("cuda/bindings/driver.py", "from cuda.bindings import driver; driver.malloc()", "cuda.bindings"),
            ("numba/cuda/api.py", "from numba.cuda import api; api.malloc()", "Numba"),
            ("own.py", "import own; own.malloc()", None),
        ]:
            with self.subTest(path):
                module = Path(self.folder.name, path)
                module.parent.mkdir(parents=True, exist_ok=True)
                module.write_text(fails)
                self.script.write_text(call + "\n")
                done = subprocess.run(
                    [sys.executable, "-m", "warpline", "run", "-o", self.output, self.script],
                    cwd=self.folder.name,
                    capture_output=True,
                    text=True,
                    timeout=300,
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("RuntimeError: no driver\n", done.stderr)
                told = [line for line in done.stderr.splitlines() if "NVIDIA's driver" in line]
                self.assertEqual([line.split(" starts")[0] for line in told], [f"warpline: {name}"] if name else [])

    def test_under_warpline_run(self):
        # As the package's .pth file does in an environment that it is installed in.
        Path(self.folder.name, "sitecustomize.py").write_text("import warpline._startup\n")
        search = os.pathsep.join([self.folder.name, str(HERE), os.environ["PYTHONPATH"]])
        profile = self.run_command(
            find("warpline"), "run", "-o", self.output, "--", sys.executable, self.script, "a", "-b", PYTHONPATH=search
        )
        self.check(profile, "a100")


if __name__ == "__main__":
    unittest.main()
