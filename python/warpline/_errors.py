"""Errors of the package."""


class WarplineError(RuntimeError):
    """Something that Warpline could not do; the text says what, why and how to go on."""


class DeviceError(WarplineError):
    """An error of CUDA's that the CPU device returned. ``code`` is CUDA's number."""

    def __init__(self, what, code, name, consequence=""):
        super().__init__(f"{what}: {name} (CUDA error {code}){consequence}")
        self.code = code
