"""Triton's driver for one GPU, which is the CPU device."""

import ctypes
import threading

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from .. import _runtime
from ._launcher import Launcher
from ._target import architecture

#: The driver's numbers of the device's attributes, by Triton's names of its properties.
_PROPERTIES = {
    "max_shared_mem": 97,
    "max_num_regs": 82,
    "multiprocessor_count": 16,
    "warpSize": 10,
    "sm_clock_rate": 13,
    "mem_clock_rate": 36,
    "mem_bus_width": 37,
}
#: ``CU_FUNC_ATTRIBUTE_…``: the largest block, bytes of local memory, registers, dynamic shared memory.
_MAX_THREADS, _LOCAL, _REGISTERS, _SHARED_LIMIT = 0, 3, 4, 8
#: The dynamic shared memory that a kernel may use without setting an attribute.
_SHARED_PLAIN = 48 << 10

#: The name of the kernel that is loaded next; Triton creates its launcher first.
_shown = threading.local()


class _Utils:
    """The functions that Triton's own driver implements in C."""

    def __init__(self):
        self._lock = threading.Lock()
        #: The modules, by code and name.
        self._modules: dict = {}

    def load_binary(self, name, kernel, shared, device):
        """Loads the compiler's result; returns module, function, registers, spills and the largest block. The same code
        with the same name is one module, because profiles distinguish kernels by their modules, and several threads
        that launch a kernel for the first time each compile it."""
        function = ctypes.c_size_t()
        shown = getattr(_shown, "name", None) or name
        _runtime.enter_thread()
        with self._lock:
            module = self._modules.get((kernel, shown))
            if module is None:
                loaded = ctypes.c_size_t()
                _runtime.call("__warpline_load_module", ctypes.byref(loaded), kernel, shown.encode())
                module = self._modules[kernel, shown] = loaded.value
        _runtime.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared > _SHARED_PLAIN:
            _runtime.call("cuFuncSetAttribute", function.value, _SHARED_LIMIT, shared)
        attributes = [_runtime.function_attribute(function.value, which) for which in (_REGISTERS, _LOCAL, _MAX_THREADS)]
        return module, function.value, attributes[0], attributes[1] // 4, attributes[2]

    def unload_module(self, module):
        """Does nothing: the module stays loaded, because the same kernel may be loaded again, for example by threads or
        by a notebook's cell."""

    def get_device_properties(self, device):
        """Returns properties of the modelled GPU."""
        return {name: _runtime.device_attribute(number) for name, number in _PROPERTIES.items()}

    def set_printf_fifo_size(self, size):
        """Does nothing, because no buffer limits the output of kernels here."""


class WarplineDriver(DriverBase):
    """The driver."""

    def __init__(self):
        super().__init__()
        self.utils = _Utils()
        self.get_device_capability = lambda device=0: divmod(architecture(), 10)
        self.get_current_stream = lambda device=0: 0
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None

    def launcher_cls(self, source, metadata):
        """Returns the class that launches a kernel. Triton loads the kernel's code immediately afterwards."""
        launcher = Launcher(source, metadata)
        _shown.name = launcher.shown
        return launcher

    @classmethod
    def is_active(cls):
        """Returns true, because the driver was installed."""
        return True

    def map_python_to_cpp_type(self, ty):
        """Returns the type unchanged, because no launcher in C++ is generated."""
        return ty

    def get_current_target(self):
        """Returns the target for which kernels are compiled."""
        return GPUTarget("cuda", architecture(), 32)

    def get_active_torch_device(self):
        """Returns the device of the tensors on which kernels work."""
        import torch

        return torch.device("cuda", 0) if getattr(torch, "_warpline", False) else torch.device("cpu")

    def get_device_interface(self):
        """Returns PyTorch's module for the device."""
        import torch

        return torch.cpu

    def get_benchmarker(self):
        """Returns a function that gives estimates of the model instead of measured times."""
        from ._testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """Returns ``None``, because nothing needs to be cleared: each estimate begins with empty caches."""
        return None

    def clear_cache(self, cache):
        """See :meth:`get_empty_cache_for_benchmark`."""

    def assemble_tensormap_to_arg(self, tensormaps_info, args):
        """Not used, because tensor maps are not supported."""
        return args
