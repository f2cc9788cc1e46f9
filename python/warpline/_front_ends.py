"""Other front ends than Triton: they open NVIDIA's driver, which nothing takes the place of within Python, and fail without a GPU.
A note names the front end of such kernels."""

import sys

#: How people call them, by their modules.
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
    """The front end that the program called where the error comes from, or ``None``: of several the outermost, which the others serve."""
    trace = error.__traceback__
    while trace is not None:
        name = _name(trace.tb_frame.f_globals.get("__name__") or "")
        if name is not None:
            return name
        trace = trace.tb_next
    return None


def explain_failures():
    """Adds a line to Python's message of an error that ends the program, if it comes from a front end that is not served."""
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
