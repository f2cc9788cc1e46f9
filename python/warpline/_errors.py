"""Errors of the package."""


class WarplineError(RuntimeError):
    """Something that Warpline could not do; the text states what, why and the next step."""


class DeviceError(WarplineError):
    """An error of CUDA's that the CPU device returned. ``code`` is CUDA's number."""

    def __init__(self, what, code, name, consequence=""):
        super().__init__(f"{what}: {name} (CUDA error {code}){consequence}")
        self.code = code
