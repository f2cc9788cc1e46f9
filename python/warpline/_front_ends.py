"""Front ends other than Triton. They open NVIDIA's driver, for which there is no replacement within Python, and fail
without a GPU. A note names the front end of such kernels."""

import sys

#: The usual names of the front ends, by their modules.
_NAMES = {
    "cupy": "CuPy",
    "cupy_backends": "CuPy",
    "numba.cuda": "Numba",
    "pycuda": "PyCUDA",
    "cuda.core": "cuda.core",
    "cuda.bindings": "cuda.bindings",
}


def _name(module):
    for package, name in _NAMES.items():
        if module == package or module.startswith(package + "."):
            return name
    return None


def failed(error):
    """Returns the front end that the program called and from which an error comes, or ``None``. If there are several,
    it is the outermost, because it uses the others."""
    trace = error.__traceback__
    while trace is not None:
        name = _name(trace.tb_frame.f_globals.get("__name__") or "")
        if name is not None:
            return name
        trace = trace.tb_next
    return None


def explain_failures():
    """Adds a line to Python's message for an error that ends the program, if the error comes from a front end that is
    not supported."""
    say = sys.excepthook
    if getattr(say, "_of_warpline", False):
        return

    def excepthook(kind, error, trace):
        say(kind, error, trace)
        name = failed(error)
        if name is not None:
            print(
                f"warpline: {name} starts its kernels through NVIDIA's driver, so they are neither run without a GPU nor profiled: of Python's "
                "front ends Triton's kernels alone run on the CPU device. A kernel's CUDA C++ source can be profiled in a program "
                "that `warpline cc` builds, which may compile it by NVRTC",
                file=sys.stderr,
            )

    excepthook._of_warpline = True
    sys.excepthook = excepthook
