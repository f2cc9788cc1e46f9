"""Replaces Triton's compiler and driver by Warpline's."""

import os
import re

try:
    import triton
except ModuleNotFoundError as missing:
    if missing.name != "triton":
        raise
    raise ModuleNotFoundError("warpline.triton needs Triton: pip install triton", name="triton") from None

from .. import _frames, _runtime
from .._errors import WarplineError
from .._imports import after

#: The oldest supported version.
_OLDEST = (3, 6)

_installed: list = []


def is_installed():
    """Returns whether the driver is installed."""
    return bool(_installed)


def install(gpu, options):
    """See :func:`warpline.triton.install`."""
    numbers = tuple(map(int, re.findall(r"\d+", triton.__version__)[:2]))
    if numbers < _OLDEST:
        raise WarplineError(f"Triton {triton.__version__} is too old: Warpline runs kernels of {_OLDEST[0]}.{_OLDEST[1]} and newer")
    _runtime.configure(gpu, **options)
    if _installed:
        return
    from . import _compiler, _driver, _jit, _notebook, _testing, _torch

    _frames.hide(os.path.dirname(triton.__file__))
    _compiler.install()
    driver = _driver.WarplineDriver()
    triton.runtime.driver.set_active(driver)
    _jit.install()
    _notebook.install()
    _testing.install()
    after("torch", _torch.install)
    _installed.append(driver)
