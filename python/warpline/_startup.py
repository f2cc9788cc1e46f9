"""Installs the Triton driver when a profiled program imports Triton, and names front ends that are not supported.
``warpline.pth`` loads this module in every Python that ``warpline run`` starts, so it imports only small modules."""

import sys

from ._front_ends import explain_failures
from ._imports import after


def _install():
    package = sys.modules.get("warpline.triton")
    if package is not None and not hasattr(package, "install"):
        # The program imports the package, and the package imports Triton; it installs the driver itself at the end of
        # its import.
        package._wanted = True
        return
    from . import triton

    triton.install()


def watch():
    """Waits for the import of Triton, or uses it if it is already imported, and for errors."""
    explain_failures()
    after("triton", _install)


watch()
