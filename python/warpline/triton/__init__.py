"""Triton's kernels on the CPU device: ``import warpline.triton; warpline.triton.install()``.

Kernels are compiled by Triton for the GPU that is modelled, run warp by warp on this processor, on arrays of the CPU (PyTorch's
tensors, NumPy's arrays, whatever has the array interface or DLPack), and can be profiled (``warpline run``, ``warpline.profile``).
"""

from __future__ import annotations

from typing import Any, Optional

from . import _install
from ._target import architecture

__all__ = ["architecture", "install", "is_installed"]


def install(gpu: Optional[str] = None, **options: Any) -> None:
    """Makes the CPU device Triton's active driver. ``gpu`` is a model of ``warpline gpus`` (``"a100"`` by default);
    ``options`` are those of ``warpline run`` by their names, as ``check="report"`` or ``kernels="softmax"``. Under ``warpline run``
    its options hold. A second call does nothing more."""
    _install.install(gpu, options)


def is_installed() -> bool:
    """Whether the CPU device is Triton's active driver."""
    return _install.is_installed()


# Under ``warpline run``, Triton was imported by this package itself.
if globals().pop("_wanted", False):
    install()
