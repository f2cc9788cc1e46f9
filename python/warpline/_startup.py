"""Installs the Triton driver as soon as a profiled program imports Triton. Loaded by ``warpline.pth`` in every Python that
``warpline run`` starts, so it imports nothing of weight."""

from ._imports import after


def _install():
    from . import triton

    triton.install()


def watch():
    """Waits for Triton, or takes it where it is there."""
    after("triton", _install)


watch()
