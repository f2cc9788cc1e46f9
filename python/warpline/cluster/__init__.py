"""Many profiles and traces at once, on the cores of this machine or on many machines, with Dask.

* ``merge(profiles, output=…)`` merges profiles of one program, as a tree.
* ``simulate(traces, models=[…])`` analyses stored traces on GPU models and with options.
* ``predict(profiles, …)`` sweeps over kernels, shapes, sizes and models.
* ``diff(profiles, …)`` compares a history of profiles.
* ``export(profiles, dataset)`` adds profiles to a dataset in Parquet.

Each call runs ``warpline``, one process per task, and stores its results in a *store*, a folder. The name of a result
depends on the inputs' content, the command and the program. A result in the store is not computed again, so an interrupted
call can be repeated and continues.
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
