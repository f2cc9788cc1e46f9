"""Errors of the package."""


class WarplineError(RuntimeError):
    """An operation that Warpline could not perform; the text states what failed, why, and the next step."""


class DeviceError(WarplineError):
    """A CUDA error that the CPU device returned. ``code`` is CUDA's number."""

    def __init__(self, what, code, name, consequence=""):
        super().__init__(f"{what}: {name} (CUDA error {code}){consequence}")
        self.code = code
