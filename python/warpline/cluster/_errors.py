"""Errors in the work on many tasks. An input that cannot be read is not an exception: it is reported with the results.
"""

from .._errors import WarplineError


class ClusterError(WarplineError):
    """The work cannot continue. Finished results are in the store, and the same call continues from there."""


class LostScheduler(ClusterError):
    """The scheduler was lost and did not return."""


class Damaged(ClusterError):
    """None of the inputs could be read."""


class Misused(ClusterError):
    """The request is invalid."""


class NoDask(ClusterError):
    """Dask is not installed."""
