"""Triton's driver: one GPU, which is the CPU device."""

import ctypes
import threading

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from .. import _runtime
from ._launcher import Launcher
from ._target import architecture

#: Driver numbers of the device's attributes, by Triton's names of its properties.
_PROPERTIES = {
    "max_shared_mem": 97,
    "max_num_regs": 82,
    "multiprocessor_count": 16,
    "warpSize": 10,
    "sm_clock_rate": 13,
    "mem_clock_rate": 36,
    "mem_bus_width": 37,
}
#: ``CU_FUNC_ATTRIBUTE_…``: largest block, bytes of local memory, registers, dynamic shared memory.
_MAX_THREADS, _LOCAL, _REGISTERS, _SHARED_LIMIT = 0, 3, 4, 8
#: Dynamic shared memory that needs no leave.
_SHARED_PLAIN = 48 << 10

#: What the kernel that is loaded next is called; Triton makes its launcher first.
_shown = threading.local()


class _Utils:
    """What Triton's own driver has in C."""

    def __init__(self):
        self._lock = threading.Lock()
        #: By code and name.
        self._modules: dict = {}

    def load_binary(self, name, kernel, shared, device):
        """Loads what the compiler made: module, function, registers, spills, largest block. The same code under the same name is
        one module: profiles distinguish kernels by their modules, and threads that launch a kernel for the first time each compile it."""
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
        """It stays: the same kernel may come again, as of threads, or of a notebook's cell."""

    def get_device_properties(self, device):
        """Properties of the modelled GPU."""
        return {name: _runtime.device_attribute(number) for name, number in _PROPERTIES.items()}

    def set_printf_fifo_size(self, size):
        """Output of kernels is not limited by a buffer here."""


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
        """What launches a kernel. Triton loads its code right afterwards."""
        launcher = Launcher(source, metadata)
        _shown.name = launcher.shown
        return launcher

    @classmethod
    def is_active(cls):
        """It was installed."""
        return True

    def map_python_to_cpp_type(self, ty):
        """No launcher in C++ is made."""
        return ty

    def get_current_target(self):
        """What kernels are compiled for."""
        return GPUTarget("cuda", architecture(), 32)

    def get_active_torch_device(self):
        """The device of tensors that kernels work on."""
        import torch

        return torch.device("cuda", 0) if getattr(torch, "_warpline", False) else torch.device("cpu")

    def get_device_interface(self):
        """PyTorch's module for the device."""
        import torch

        return torch.cpu

    def get_benchmarker(self):
        """Estimates of the model in the place of times."""
        from ._testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """Nothing needs to be cleared: each estimate begins with empty caches."""
        return None

    def clear_cache(self, cache):
        """See :meth:`get_empty_cache_for_benchmark`."""

    def assemble_tensormap_to_arg(self, tensormaps_info, args):
        """No tensor maps."""
        return args
