"""Bad accesses are reported with array, element and Python line. Each is a program of its own: a fault ends the device."""

import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).parent
BEGIN = "import numpy as np, kernels, warpline, warpline.triton\n"


def run(text, **options):
    """Output of a program with these options of the run, and its exit code."""
    begin = BEGIN + f"warpline.triton.install(**{options!r})\n"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", begin + text], cwd=HERE, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


BEYOND = """
left, right, sums = np.ones(1000, "f4"), np.ones(1000, "f4"), np.zeros(1024, "f4")
kernels.vector_add[(1,)](left, right, sums, 1024, BLOCK=1024)
print(sums[:1000].sum())
"""


class Checks(unittest.TestCase):
    """``--check`` and filters."""

    def test_an_access_beyond_an_array_stops_the_kernel(self):
        code, _, said = run(BEYOND)
        self.assertEqual(code, 1)
        for part in (
            "Invalid read of 16 bytes",
            "vector_add[BLOCK=1024]",
            "kernels.py:12:9",
            "0 bytes past the end of left (4000 bytes): element 1000 of float32[1000], counted from 0",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
        ):
            self.assertIn(part, said)

    def test_an_index_that_overflowed_is_told_with_the_array_that_it_was_for(self):
        # 2^27 elements of 4 bytes a lane: 32 bits are full at lane 16.
        text = """
x, out, other = np.ones(128, "f4"), np.zeros(64, "f4"), np.zeros(64, "f4")
with warpline.profile() as p:
    kernels.strided_copy[(1,)](x, out, 1 << 27, BLOCK=64)
fault = p.data["faults"][0]
print([one["name"] for one in p.data["allocations"] if one["id"] == fault["allocation"]], fault["offset"])
"""
        code, printed, said = run(text, check="report")
        self.assertEqual(code, 0, said)
        beyond = (1 << 29) - 512
        self.assertIn(f"{beyond} bytes past the end of x (512 bytes): element {1 << 27} of float32[128], counted from 0", said)
        self.assertEqual(printed, f"['x'] {1 << 29}\n")

    def test_it_can_be_reported_and_left_out(self):
        code, printed, said = run(BEYOND, check="report")
        self.assertEqual((code, printed), (0, "2000.0\n"))
        self.assertEqual(said.count("Invalid read"), 2)
        self.assertIn("past the end of right", said)

    def test_the_profile_has_it(self):
        text = "with warpline.profile() as p:\n" + "".join(f"    {line}\n" for line in BEYOND.strip().splitlines())
        text += "print([(f['kind'], f['frame']['line']) for f in p.data['faults']], p.findings.id.tolist())\n"
        code, printed, said = run(text, check="report")
        self.assertEqual(code, 0, said)
        self.assertIn("('out_of_bounds', 12)", printed)
        self.assertIn("'fault'", printed)

    def test_what_comes_after_a_bad_access_says_that_the_device_is_done(self):
        text = f"""
try:
{chr(10).join("    " + line for line in BEYOND.strip().splitlines())}
except warpline.WarplineError as error:
    print(error)
kernels.masked_copy[(1,)](left, sums, 64, BLOCK=64)
"""
        code, printed, said = run(text)
        self.assertEqual(code, 1)
        for one in (printed, said):
            self.assertIn("the device runs no more kernels in this process; warpline.triton.install(check=\"report\")", one)

    def test_options_that_come_too_late_are_refused(self):
        text = BEYOND.replace("1024, BLOCK", "1000, BLOCK") + """
warpline.triton.install()
warpline.triton.install(gpu="a100")
for options in {"gpu": "h100"}, {"check": "report"}:
    try:
        warpline.triton.install(**options)
    except warpline.WarplineError as error:
        print(error)
"""
        code, printed, said = run(text)
        self.assertEqual(code, 0, said)
        start = "the CPU device has started as a100 and keeps its options: request"
        self.assertIn(f"{start} --gpu h100 before", printed)
        self.assertIn(f"{start} --gpu a100 --check report before", printed)

    def test_an_array_that_is_gone_is_not_reached(self):
        text = """
gone = np.ones(64, "f4")
out = np.zeros(64, "f4")
kernels.masked_copy[(1,)](gone, out, 64, BLOCK=64)
address = gone.ctypes.data
del gone
class Stale:
    dtype = "float32"
    def data_ptr(self):
        return address
kernels.masked_copy[(1,)](Stale(), out, 64, BLOCK=64)
"""
        code, _, said = run(text)
        self.assertEqual(code, 1)
        self.assertIn("in freed memory", said)
        self.assertIn("into gone", said)

    def test_assertions_of_kernels_are_told(self):
        text = """
import os
os.environ["TRITON_DEBUG"] = "1"
x, out = np.arange(64, dtype="f4"), np.zeros(64, "f4")
kernels.checked[(1,)](x, out, 10.0, BLOCK=64, debug=True)
"""
        code, _, said = run(text)
        self.assertEqual(code, 1)
        self.assertIn("too large", said)
        self.assertIn("CUDA_ERROR_ASSERT", said)

    def test_kernels_are_chosen_by_name(self):
        text = """
x, out = np.ones(64, "f4"), np.zeros(64, "f4")
with warpline.profile() as p:
    kernels.masked_copy[(1,)](x, out, 64, BLOCK=64)
    kernels.vector_add[(1,)](x, x, out, 64, BLOCK=64)
print([name for name, sectors in zip(p.kernels.name, p.kernels.global_sectors.fillna(0)) if sectors > 0])
"""
        _, printed, said = run(text, kernels="masked")
        self.assertEqual(printed, "['masked_copy[BLOCK=64]']\n", said)

    def test_kernels_run_unchecked_without_a_profile(self):
        # Kernels have one form, with hooks; here their results are ignored.
        text = """
x, y, out = np.ones(1000, "f4"), np.ones(1000, "f4"), np.zeros(1000, "f4")
kernels.vector_add[(4,)](x, y, out, 1000, BLOCK=256)
with warpline.profile() as p:
    kernels.masked_copy[(1,)](x, out[:64], 64, BLOCK=64)
kernels.vector_add[(4,)](x, y, out, 1000, BLOCK=256)
print(out.sum(), p.kernels.name.tolist())
"""
        code, printed, said = run(text, check="off")
        self.assertEqual((code, printed), (0, "2000.0 ['masked_copy[BLOCK=64]']\n"), said)

    def test_estimates_do_not_depend_on_what_is_recorded(self):
        # Else tuning would take other configurations in a run that leaves something out.
        text = """
import triton
x, out = np.ones(4096, "f4"), np.zeros(4096, "f4")
print(triton.testing.do_bench(lambda: kernels.vector_add[(16,)](x, x, out, 4096, BLOCK=256)))
"""
        whole = run(text)
        self.assertEqual(whole[0], 0, whole[2])
        for options in {"kernels": "masked"}, {"launches": "7"}, {"blocks": "1/4"}:
            with self.subTest(options):
                self.assertEqual(run(text, **options)[1], whole[1])

    def test_what_is_not_recorded_is_checked_too(self):
        # It runs among the interpreter's own memory as well. The last block of four reads beyond `left`.
        text = """
x, out = np.ones(64, "f4"), np.zeros(64, "f4")
left, right, sums = np.ones(1000, "f4"), np.ones(1024, "f4"), np.zeros(1024, "f4")
with warpline.profile() as p:
    kernels.masked_copy[(1,)](x, out, 64, BLOCK=64)
    kernels.vector_add[(4,)](left, right, sums, 1024, BLOCK=256)
requests = p.data["kernels"][-1]["metrics"].get("global", {}).get("requests", 0)
print(sums[:1000].sum(), p.data["kernels"][-1]["name"], requests, p.findings.id.tolist())
"""
        for options, requests in [({"kernels": "masked"}, 0), ({"launches": "0"}, 0), ({"blocks": "1/2"}, 24)]:
            with self.subTest(options):
                code, printed, said = run(text, check="report", **options)
                self.assertEqual(code, 0, said)
                self.assertIn("0 bytes past the end of left (4000 bytes)", said)
                self.assertTrue(printed.startswith(f"2000.0 vector_add[BLOCK=256] {requests} "), printed)

    def test_what_cannot_run_is_refused_by_name_and_line(self):
        # Hopper's matrix instructions, which the architecture alone enables.
        text = """
import os
os.environ["WARPLINE_TRITON_ARCH"] = "90"
a = np.ones((64, 64), "f2")
c = np.zeros((64, 64), "f2")
kernels.matmul[(1,)](a, a, c, 64, 64, 64, 64, 1, 64, 1, 64, 1, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64, GROUP=1, ACTIVATION="")
"""
        code, _, said = run(text)
        self.assertEqual(code, 1)
        self.assertIn("the kernel matmul cannot run on the CPU device: kernels.py:", said)


if __name__ == "__main__":
    unittest.main()
