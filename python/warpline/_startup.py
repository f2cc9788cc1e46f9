"""Installs the Triton driver as soon as a profiled program imports Triton. Loaded by ``warpline.pth`` in every Python that
``warpline run`` starts, so it imports nothing of weight."""

import sys

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
    """Waits for Triton, or takes it where it is there."""
    after("triton", _install)


watch()
