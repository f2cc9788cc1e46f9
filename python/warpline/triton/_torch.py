"""PyTorch on a machine without a GPU: programs that ask for ``cuda`` are given the CPU, where their kernels run."""

import contextlib
import os
import types

from .. import _frames, _runtime
from ._target import architecture

#: Driver numbers of what ``torch.cuda.get_device_properties`` tells.
_PROPERTIES = {"multi_processor_count": 16, "max_threads_per_multi_processor": 39, "warp_size": 10, "regs_per_multiprocessor": 82}
#: ``CU_DEVICE_ATTRIBUTE_…``: shared memory of a block, with leave; bytes of L2.
_SHARED, _L2 = 97, 38


def install():
    """Puts the CPU in the GPU's place; leaves a PyTorch alone that has one."""
    import torch
    from torch.overrides import TorchFunctionMode

    _frames.hide(os.path.dirname(torch.__file__))
    if torch.cuda.is_available() or getattr(torch, "_warpline", False):
        return
    torch._warpline = True

    def on_cuda(device):
        if isinstance(device, torch.device):
            return device.type == "cuda"
        # A number is a GPU's.
        return isinstance(device, int) and not isinstance(device, bool) or isinstance(device, str) and device.partition(":")[0] == "cuda"

    is_cuda = torch.Tensor.is_cuda.__get__

    class OnCpu(TorchFunctionMode):
        """Exchanges the device in calls of PyTorch's functions."""

        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if function == is_cuda:
                return True
            if function is torch.Tensor.cuda:
                return args[0]
            if on_cuda(kwargs.get("device")):
                kwargs["device"] = "cpu"
            if function in (torch.Tensor.to, torch.nn.Module.to):
                args = args[:1] + tuple("cpu" if on_cuda(one) else one for one in args[1:])
            return function(*args, **kwargs)

    OnCpu().__enter__()
    torch.nn.Module.cuda = lambda module, device=None: module

    def properties(device=None):
        found = {name: _runtime.device_attribute(number) for name, number in _PROPERTIES.items()}
        major, minor = divmod(architecture(), 10)
        return types.SimpleNamespace(
            name="Warpline CPU device",
            major=major,
            minor=minor,
            shared_memory_per_block_optin=_runtime.device_attribute(_SHARED),
            L2_cache_size=_runtime.device_attribute(_L2),
            total_memory=16 << 30,
            **found,
        )

    stream = types.SimpleNamespace(cuda_stream=0, synchronize=lambda: None, wait_stream=lambda other: None)
    replaced = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "get_device_name": lambda device=None: "Warpline CPU device",
        "get_device_capability": lambda device=None: divmod(architecture(), 10),
        "get_device_properties": properties,
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "device": lambda device=None: contextlib.nullcontext(),
        "stream": lambda stream=None: contextlib.nullcontext(),
        "is_bf16_supported": lambda *arguments, **options: True,
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
    }
    for name, function in replaced.items():
        setattr(torch.cuda, name, function)
