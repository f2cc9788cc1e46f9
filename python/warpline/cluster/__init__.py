"""Many profiles and traces at once, on the cores of this machine or on many machines, with Dask.

* ``merge(profiles, output=…)`` puts profiles of one program together, as a tree.
* ``simulate(traces, models=[…])`` analyses kept traces on GPU models and with options.
* ``predict(profiles, …)`` sweeps over kernels, shapes, sizes and models.
* ``diff(profiles, …)`` compares a history of profiles.
* ``export(profiles, dataset)`` puts profiles into a dataset in Parquet.

Each call drives ``warpline``, one process per task, and keeps what it made in a *store*, a folder, under a name that follows from the
inputs' content, the command and the program. What the store has is not made again: a call that was cut off goes on where it was.
``docs/cluster.md`` has details.
"""

from ._diff import diff
from ._errors import ClusterError, Damaged, LostScheduler
from ._export import export
from ._merge import merge
from ._predict import predict
from ._results import Merged, Result, Results
from ._simulate import simulate
from ._store import Store

__all__ = [
    "ClusterError",
    "Damaged",
    "LostScheduler",
    "Merged",
    "Result",
    "Results",
    "Store",
    "diff",
    "export",
    "merge",
    "predict",
    "simulate",
]
