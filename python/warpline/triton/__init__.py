"""Triton's kernels on the CPU device: ``import warpline.triton; warpline.triton.install()``.

Triton compiles the kernels for the modelled GPU. They run warp by warp on this processor, on arrays of the CPU (PyTorch's
tensors, NumPy's arrays, and every object with the array interface or DLPack), and can be profiled (``warpline run``,
``warpline.profile``). """

from __future__ import annotations

from typing import Any, Optional

from . import _install
from ._target import architecture

__all__ = ["architecture", "install", "is_installed"]


def install(gpu: Optional[str] = None, **options: Any) -> None:
    """Makes the CPU device Triton's active driver. ``gpu`` is a model of ``warpline gpus`` (``"a100"`` by default);
    ``options`` are options of ``warpline run`` by their names, such as ``check="report"`` or ``kernels="softmax"``.
    Under ``warpline run``, the options of that command apply. A second call has no effect."""
    _install.install(gpu, options)


def is_installed() -> bool:
    """Returns whether the CPU device is Triton's active driver."""
    return _install.is_installed()


# Under ``warpline run``, this package itself has imported Triton.
if globals().pop("_wanted", False):
    install()
