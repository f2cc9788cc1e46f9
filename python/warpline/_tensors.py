"""The arrays that kernels receive, as allocations of the CPU device. Kernels work on the program's own memory; nothing
is copied."""

import ctypes

from . import _arrays, _frames, _runtime

#: For each first byte, a token of the array that the runtime has registered there.
_known: dict = {}


def announce(argument, name, frames):
    """Makes the memory of a kernel's argument accessible to kernels, with the name of the variable that holds it, or of
    the parameter."""
    memory = _arrays.memory(argument)
    if memory is None or not memory.bytes:
        return
    known = _known.get(memory.start)
    if known is None or known[1] != memory.bytes:
        held = _frames.names(frames, _arrays.shares(memory))
        token = object()
        _known[memory.start] = (token, memory.bytes)
        _arrays.watch(memory.owner, lambda start=memory.start: _gone(start, token))
        name = (held or name).encode()
    else:
        name = None
    # The runtime detects whether the memory is new, also after a device reset.
    _runtime.call("__warpline_tensor", ctypes.c_void_p(memory.start), memory.bytes, name)
    element = argument.element_size() if hasattr(argument, "element_size") else 0
    if element:
        shape = f"{str(argument.dtype).rpartition('.')[2]}{list(argument.shape)}".encode()
        offset = argument.data_ptr() - memory.start
        _runtime.call("__warpline_tensor_shape", ctypes.c_void_p(memory.start), offset, element, shape)


def _gone(start, token):
    if _known.get(start, (None,))[0] is not token:
        return
    del _known[start]
    _runtime.functions().__getattr__("__warpline_tensor_gone")(ctypes.c_void_p(start))
