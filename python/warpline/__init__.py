"""Warpline: profiles of the memory behaviour of GPU kernels, with or without a GPU.

* ``warpline.load(path)`` reads a profile as data frames.
* ``with warpline.profile() as p: …`` profiles the Triton kernels of a piece of Python.
* ``warpline.diff(before, after)`` compares two profiles.
* ``warpline.dataset(folder)`` queries a dataset of ``warpline export``, in SQL.
* ``warpline.sweep(kernel, configs)`` compares configurations of a kernel; ``warpline.prune()`` is its hook for ``triton.autotune``.
* ``import warpline.triton; warpline.triton.install()`` lets Triton's kernels run on the CPU device.
"""

from ._dataset import Dataset, dataset
from ._errors import WarplineError
from ._profiling import profile
from ._sweep import prune, sweep
from ._tables import Comparison, Profile, diff, load

__all__ = ["Comparison", "Dataset", "Profile", "WarplineError", "dataset", "diff", "load", "profile", "prune", "sweep"]
__version__ = "0.2.0"
