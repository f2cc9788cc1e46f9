"""PyTorch on a machine without a GPU: programs that request ``cuda`` get the CPU, on which their kernels run."""

import contextlib
import os
import sys
import types

from .. import _frames, _runtime, _tensors
from .._errors import WarplineError
from . import _libraries
from ._notes import tell
from ._target import architecture

#: The driver's numbers of the properties in ``torch.cuda.get_device_properties``.
_PROPERTIES = {"multi_processor_count": 16, "max_threads_per_multi_processor": 39, "warp_size": 10, "regs_per_multiprocessor": 82}
#: ``CU_DEVICE_ATTRIBUTE_…``: the maximum shared memory of a block, which requires an attribute; bytes of L2.
_SHARED, _L2 = 97, 38


class Stream:
    """A stream: all work is performed immediately, in the order of the calls."""

    cuda_stream = 0

    def __init__(self, device=None, priority=0, **_):
        self.device, self.priority = device, priority

    def synchronize(self):
        """Does nothing, because there is no unfinished work."""

    def query(self):
        """Returns true, because there is no unfinished work."""
        return True

    def wait_stream(self, stream):
        """Does nothing, because earlier work is complete."""

    def wait_event(self, event):
        """Does nothing, because the event has happened."""

    def record_event(self, event=None):
        """Returns an event that has happened."""
        return event or Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Event:
    """An event, which has happened when it is recorded."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self.enable_timing = enable_timing

    def record(self, stream=None):
        """Does nothing, because there is no unfinished work."""

    def wait(self, stream=None):
        """Does nothing, because the event has happened."""

    def synchronize(self):
        """Does nothing, because the event has happened."""

    def query(self):
        """Returns whether the event has happened."""
        return True

    def elapsed_time(self, end):
        """Raises an error, because times of kernels are not measured here."""
        raise WarplineError("kernels run on the CPU, so times between events are not a GPU's: triton.testing.do_bench gives the model's estimate")


def install():
    """Replaces the GPU by the CPU; does not change a PyTorch that has a GPU."""
    import torch
    from torch.overrides import TorchFunctionMode

    _frames.hide(os.path.dirname(torch.__file__))
    if torch.cuda.is_available() or getattr(torch, "_warpline", False):
        return
    torch._warpline = True
    _libraries.install()

    def on_cuda(device):
        if isinstance(device, torch.device):
            return device.type == "cuda"
        # A number is the number of a GPU.
        return isinstance(device, int) and not isinstance(device, bool) or isinstance(device, str) and device.partition(":")[0] == "cuda"

    def asks_for_itself():
        """Returns whether the program makes a call itself, and not PyTorch, which works on tensors on their device.
        Modes pass calls on."""
        frame = sys._getframe(2)
        while frame is not None and frame.f_code.co_name == "__torch_function__":
            frame = frame.f_back
        return frame is not None and _frames.is_users(frame)

    is_cuda, device_of = torch.Tensor.is_cuda.__get__, torch.Tensor.device.__get__
    shown = torch.device("cuda", 0)
    halves = (torch.float16, torch.bfloat16)

    def in_single_precision(function, args, kwargs):
        """Computes in single precision, as PyTorch's kernels for GPUs do for halves. PyTorch's kernels for the CPU sum
        gradients in half precision: the error is 0.08 in the sums over 1151 rows of Triton's tutorial, whose own
        kernel has an error of 0.009."""
        wider = lambda one: one.float() if isinstance(one, torch.Tensor) and one.dtype in halves else one
        given = [wider(one) for one in args], {name: wider(one) for name, one in kwargs.items()}
        return function(*given[0], **given[1]).to(args[0].dtype)

    class OnCpu(TorchFunctionMode):
        """Replaces the device in calls of PyTorch's functions."""

        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if function == is_cuda:
                return True
            if function == device_of and asks_for_itself():
                return shown
            if function is torch.Tensor.get_device and asks_for_itself():
                return shown.index
            if function is torch.Tensor.cuda:
                return args[0]
            if on_cuda(kwargs.get("device")):
                kwargs["device"] = "cpu"
            if function in (torch.Tensor.to, torch.nn.Module.to):
                args = args[:1] + tuple("cpu" if on_cuda(one) else one for one in args[1:])
            if function is torch.Tensor.data_ptr and asks_for_itself():
                # A kernel may receive the address in a tensor of addresses, as in grouped products.
                _tensors.announce(args[0], "tensor", _frames.users())
            if function is torch.nn.functional.layer_norm and args and args[0].dtype in halves:
                return in_single_precision(function, args, kwargs)
            return function(*args, **kwargs)

    OnCpu().__enter__()

    class Engine:
        """Autograd's engine runs the program's own ``backward`` within a call of PyTorch, where modes are disabled.
        This class enables this mode again."""

        def __init__(self, engine):
            self._engine = engine

        def run_backward(self, *args, **kwargs):
            """Has the parameters of the engine's function."""
            with OnCpu():
                return self._engine.run_backward(*args, **kwargs)

        def __getattr__(self, name):
            return getattr(self._engine, name)

    torch.autograd.Variable._execution_engine = Engine(torch.autograd.Variable._execution_engine)

    # `torch.set_default_device` and `with torch.device(…)` are modes that PyTorch keeps below all others, so their
    # device is applied last.
    with contextlib.suppress(ImportError):
        # PyTorch 1 does not have this mode.
        from torch.utils._device import DeviceContext

        enter = DeviceContext.__init__
        DeviceContext.__init__ = lambda self, device, *rest: enter(self, "cpu" if on_cuda(device) else device, *rest)

    class Generator(torch.Generator):
        """A generator of random numbers, which differ from those of a GPU."""

        def __new__(cls, device="cpu"):
            return super().__new__(cls, "cpu" if on_cuda(device) else device)

    torch.Generator = Generator
    torch.nn.Module.cuda = lambda module, device=None: module

    def compile(model=None, **options):
        """Replaces ``torch.compile``, which would search for the GPU, and for a C++ compiler for the CPU."""
        tell("torch.compile leaves functions as they are written: the kernels that it would make are not run here")
        return (lambda function: function) if model is None else model

    torch.compile = compile

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

    stream = Stream()
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
        "device_of": lambda tensor=None: contextlib.nullcontext(),
        "stream": lambda stream=None: contextlib.nullcontext(),
        "set_stream": lambda stream: None,
        "Stream": Stream,
        "Event": Event,
        "is_bf16_supported": lambda *arguments, **options: True,
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
    }
    for name, function in replaced.items():
        setattr(torch.cuda, name, function)
    # PyTorch's functions for the current device of any kind, from version 2.6 on.
    functions = {
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": lambda: 0,
        "current_device_idx": lambda: 0,
        "set_device_index": lambda device: None,
        "set_device_idx": lambda device: None,
        "device_index": lambda index=None: contextlib.nullcontext(),
        **{name: replaced[name] for name in ("is_available", "device_count", "current_stream", "set_stream", "synchronize", "empty_cache")},
    }
    for name, function in functions.items():
        if hasattr(getattr(torch, "accelerator", None), name):
            setattr(torch.accelerator, name, function)
    # Code that torch.compile generates calls a function below the module, and programs copy such code.
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    torch.cuda._DeviceGuard = torch.cuda.device
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    if hasattr(guards, "_empty_strided_cuda"):
        guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype)
    # Programs that query Triton for the device reach PyTorch's module for the CPU, which has fewer functions, in older
    # versions none.
    for name in ("Stream", "Event", "stream", "set_stream", "current_stream", "current_device", "synchronize", "device_count"):
        if not hasattr(torch.cpu, name):
            setattr(torch.cpu, name, replaced[name])
