"""The runtime in this process: CUDA's driver API on the CPU device, called through ctypes."""

import ctypes
import functools
import os
import threading

from ._binaries import run, runtime_library
from ._errors import DeviceError, WarplineError

#: The variable with which ``warpline run`` passes its options to the runtime.
RUN_VARIABLE = "WARPLINE_RUN"
#: The GPU model if neither ``warpline run`` nor the program names one.
DEFAULT_GPU = "a100"

#: The GPU model and the encoded options, after they were chosen here.
_options: list = []

_thread = threading.local()


def under_run():
    """Returns whether ``warpline run`` started this program."""
    return RUN_VARIABLE in os.environ and not _options


def configure(gpu=None, **options):
    """Sets the GPU model, and options of ``warpline run`` by their names, before the runtime starts. Under ``warpline
    run``, the options of that command apply, and this function does nothing."""
    if under_run() or (_options and gpu is None and not options):
        return
    started = functions.cache_info().currsize
    if started and not options and gpu == _options[0]:
        return
    gpu = gpu or (_options[0] if _options else DEFAULT_GPU)
    arguments = []
    for name, value in options.items():
        # A flag with the value false is omitted.
        if value is not False and value is not None:
            arguments += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    encoded = run("warpline", "options", "--gpu", gpu, *arguments, "--", "python").stdout.strip()
    if started and [gpu, encoded] != _options:
        requested = " ".join(["--gpu", gpu, *arguments])
        raise WarplineError(f"the CPU device has started as {_options[0]} and keeps its options: request {requested} before the first kernel runs")
    _options[:] = [gpu, encoded]


def model():
    """Returns the GPU model that was chosen here, or ``None`` under ``warpline run``, which has its own model."""
    return _options[0] if _options else None


@functools.lru_cache(maxsize=1)
def functions():
    """Returns the functions of the runtime, which is started."""
    if not under_run() and not _options:
        configure()
    own = not under_run()
    if own:
        # The variable is only set until the runtime has read it, because other processes that the program starts do not
        # belong to this run. The options name no destination for a trace, so only sections have a trace, and the whole
        # program has one if WARPLINE_TRACE is set.
        os.environ[RUN_VARIABLE] = _options[1]
    loaded = ctypes.CDLL(str(runtime_library()), mode=ctypes.RTLD_GLOBAL)
    for name, arguments in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, ctypes.c_int
    loaded.__getattr__("__warpline_interpreted_path").restype = None
    check("cuInit", loaded.cuInit(0), loaded)
    # The program's own memory surrounds its arrays, so accesses of kernels are checked even without a profile.
    loaded.__getattr__("__warpline_always_check")(1)
    context = ctypes.c_void_p()
    check("cuDevicePrimaryCtxRetain", loaded.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), loaded)
    check("cuCtxSetCurrent", loaded.cuCtxSetCurrent(context), loaded)
    if own:
        # Child processes of this process are not part of a section.
        del os.environ[RUN_VARIABLE]
    return loaded


#: The numbers ``CUDA_ERROR_…`` of errors after which each call fails. Bad accesses are ``ILLEGAL_ADDRESS`` and
#: ``MISALIGNED_ADDRESS``; the others are ``LAUNCH_TIMEOUT``, ``ASSERT``, ``HARDWARE_STACK_ERROR``,
#: ``ILLEGAL_INSTRUCTION``, ``INVALID_ADDRESS_SPACE``, ``INVALID_PC``, ``LAUNCH_FAILED``.
_BAD_ACCESSES = (700, 716)
_FINAL = (*_BAD_ACCESSES, 702, 710, 714, 715, 717, 718, 719)

_POINTER = ctypes.c_void_p
_HANDLE = ctypes.c_size_t
_FUNCTIONS = {
    "cuInit": [ctypes.c_uint],
    "cuDevicePrimaryCtxRetain": [ctypes.POINTER(_POINTER), ctypes.c_int],
    "cuCtxSetCurrent": [_POINTER],
    "cuCtxSynchronize": [],
    "cuDeviceGetAttribute": [ctypes.POINTER(ctypes.c_int), ctypes.c_int, ctypes.c_int],
    "cuModuleGetFunction": [ctypes.POINTER(_HANDLE), _HANDLE, ctypes.c_char_p],
    "cuFuncGetAttribute": [ctypes.POINTER(ctypes.c_int), ctypes.c_int, _HANDLE],
    "cuFuncSetAttribute": [_HANDLE, ctypes.c_int, ctypes.c_int],
    "cuLaunchKernel": [_HANDLE] + [ctypes.c_uint] * 7 + [_POINTER] * 3,
    "cuLaunchCooperativeKernel": [_HANDLE] + [ctypes.c_uint] * 7 + [_POINTER] * 2,
    "cuMemAlloc_v2": [ctypes.POINTER(_POINTER), ctypes.c_size_t],
    "cuMemFree_v2": [_POINTER],
    "cuGetErrorName": [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)],
    "__warpline_interpreted_path": [ctypes.c_char_p],
    "__warpline_load_module": [ctypes.POINTER(_HANDLE), ctypes.c_char_p, ctypes.c_char_p],
    "__warpline_tensor": [_POINTER, ctypes.c_size_t, ctypes.c_char_p],
    "__warpline_tensor_shape": [_POINTER, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_char_p],
    "__warpline_tensor_gone": [_POINTER],
    "__warpline_section_begin": [ctypes.c_char_p, ctypes.c_int],
    "__warpline_section_end": [],
    "__warpline_most_blocks": [ctypes.c_uint64],
    "__warpline_always_check": [ctypes.c_int],
}


def check(what, code, loaded=None):
    """Raises an exception for a CUDA error."""
    if code == 0:
        return
    name = ctypes.c_char_p()
    (loaded or functions()).cuGetErrorName(code, ctypes.byref(name))
    raise DeviceError(what, code, (name.value or b"unknown error").decode(), _consequence(code))


def _consequence(code):
    """Returns the consequence of an error for later kernels, if there is one."""
    if code not in _FINAL:
        return ""
    cure = '; warpline.triton.install(check="report"), or warpline run --check report, goes on past bad accesses'
    return f". Like a GPU's context, the device runs no more kernels in this process{cure if code in _BAD_ACCESSES else ''}"


def enter_thread():
    """Makes the device's context current in this thread, which each thread needs that loads or launches kernels."""
    if not getattr(_thread, "ready", False):
        context = _POINTER()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
        _thread.ready = True


def call(name, *arguments):
    """Calls a function of the runtime."""
    check(name.lstrip("_"), getattr(functions(), name)(*arguments))


def device_attribute(number):
    """Returns one attribute of the device, by the driver's number."""
    value = ctypes.c_int()
    call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
    return value.value


def function_attribute(function, number):
    """Returns one attribute of a kernel, by the driver's number."""
    value = ctypes.c_int()
    call("cuFuncGetAttribute", ctypes.byref(value), number, function)
    return value.value
