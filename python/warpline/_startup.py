"""Installs the Triton driver as soon as a profiled program imports Triton, and names front ends that are not served. Loaded by
``warpline.pth`` in every Python that ``warpline run`` starts, so it imports nothing of weight."""

import sys

from ._front_ends import explain_failures
from ._imports import after


def _install():
    package = sys.modules.get("warpline.triton")
    if package is not None and not hasattr(package, "install"):
        # The program imports the package, and that Triton: it installs itself when it is whole.
        package._wanted = True
        return
    from . import triton

    triton.install()


def watch():
    """Waits for Triton, or takes it where it is there, and for errors."""
    explain_failures()
    after("triton", _install)


watch()
