"""Allows kernels to receive arrays that Triton does not accept."""

import functools

from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from .._arrays import as_argument


def install():
    """Wraps the functions that launch a kernel."""
    _wrap(JITFunction, lambda kernel: kernel.arg_names)
    # The program's own functions that prune or select configurations receive the arrays unchanged.
    _wrap(Autotuner, lambda tuner: {*tuner.reset_to_zero, *tuner.restore_value})


def _wrap(kind, names):
    """Converts the arrays that parameters of ``names(self)`` receive."""
    original = kind.run
    if getattr(original, "_warpline", False):
        return

    @functools.wraps(original)
    def run(self, *args, **kwargs):
        changed = names(self)
        positions = [*self.arg_names, *[None] * len(args)]
        args = [as_argument(value) if name in changed else value for name, value in zip(positions, args)]
        kwargs = {name: as_argument(value) if name in changed else value for name, value in kwargs.items()}
        return original(self, *args, **kwargs)

    run._warpline = True
    kind.run = run
