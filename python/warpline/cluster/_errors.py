"""What can go wrong with many tasks. An input that cannot be read is no exception: it is reported with the results."""

from .._errors import WarplineError


class ClusterError(WarplineError):
    """The work cannot go on; what was finished is in the store, and the same call goes on from there."""


class LostScheduler(ClusterError):
    """The scheduler is gone and did not come back."""


class Damaged(ClusterError):
    """Of all inputs, none could be read."""


class Misused(ClusterError):
    """The request is invalid."""


class NoDask(ClusterError):
    """Dask is not installed."""
