"""Launches one kernel, with its arguments packed in the kernel's layout."""

import ctypes
import operator
import struct

from .. import _frames, _runtime, _tensors
from .._errors import WarplineError
from ._names import shown

#: The C types for the parameter types of kernels.
_TYPES = {
    "i1": ctypes.c_uint8,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u1": ctypes.c_uint8,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "fp32": ctypes.c_float,
    "f32": ctypes.c_float,
    "fp64": ctypes.c_double,
}


def _half(value):
    return ctypes.c_uint16(struct.unpack("H", struct.pack("e", value))[0])


def _brain(value):
    bits = struct.unpack("I", struct.pack("f", value))[0]
    # Rounds to nearest, ties to even; NaN keeps a bit of its payload.
    if bits & 0x7FFFFFFF > 0x7F800000:
        return ctypes.c_uint16(bits >> 16 | 0x40)
    return ctypes.c_uint16(bits + 0x7FFF + (bits >> 16 & 1) >> 16)


_CONVERSIONS = {"fp16": _half, "bf16": _brain}


def _flat(signature, values, names):
    """Returns the parameters that the kernel takes, one after another: type, value, name. A tuple counts as its
    elements."""
    for ty, value, name in zip(signature, values, names):
        if isinstance(ty, tuple):
            yield from _flat(ty, value, [f"{name}[{index}]" for index in range(len(ty))])
        elif ty != "constexpr":
            yield ty, value, name


def _expanded(ty, value):
    """Returns a tensor descriptor in the form that the kernel takes: base, shape, strides and options, then shape and
    strides again."""
    if isinstance(ty, str) and ty.startswith("tensordesc"):
        shape, strides = list(value.shape), list(value.strides)
        rounds = getattr(value, "round_f32_to_tf32", None)
        options = [("i1", getattr(value, "padding", "zero") == "nan")] + ([("i1", bool(rounds))] if rounds is not None else [])
        numbers = [("i64", one) for one in shape + strides]
        return [("*", value.base), *numbers, *options, *[("i32", one) for one in shape], *[("i64", one) for one in strides]]
    return [(ty, value)]


class Launcher:
    """Starts a kernel, and passes its caller to the runtime."""

    def __init__(self, source, metadata):
        function = getattr(source, "fn", None)
        self.names = list(getattr(function, "arg_names", source.signature))
        self.signature = list(source.signature.values())
        self.shown = shown(source, metadata, self.names)
        self.threads = 32 * metadata.num_warps
        self.shared = metadata.shared
        self.cooperative = getattr(metadata, "launch_cooperative_grid", False)
        if getattr(metadata, "num_ctas", 1) != 1:
            raise WarplineError(f"{self.shown}: thread block clusters (num_ctas={metadata.num_ctas}) are not supported")
        self.scratch = [
            (getattr(metadata, f"{kind}_scratch_size", 0) or 0, getattr(metadata, f"{kind}_scratch_align", 1) or 1)
            for kind in ("global", "profile")
        ]

    def __call__(self, x, y, z, stream, function, packed, launch_metadata, enter, leave, *values):
        x, y, z = map(operator.index, (x, y, z))
        if x * y * z == 0:
            return
        _runtime.enter_thread()
        if enter is not None:
            enter(launch_metadata)
        frames = _frames.users()
        _runtime.functions().__getattr__("__warpline_interpreted_path")(_frames.path(frames))
        scratch = []
        try:
            arguments = []
            for ty, value, name in _flat(self.signature, values, self.names):
                for part, given in _expanded(ty, value):
                    arguments.append(self._argument(part, given, name, frames))
            for size, align in self.scratch:
                place = ctypes.c_void_p()
                if size:
                    _runtime.call("cuMemAlloc_v2", ctypes.byref(place), max(size, align) * x * y * z)
                    scratch.append(place)
                arguments.append(ctypes.c_uint64(place.value or 0))
            self._start((x, y, z), stream, function, arguments)
        finally:
            for place in scratch:
                _runtime.functions().cuMemFree_v2(place)
            _runtime.functions().__getattr__("__warpline_interpreted_path")(None)
        if leave is not None:
            leave(launch_metadata)

    def _start(self, grid, stream, function, arguments):
        pointers = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        where = (function, *grid, self.threads, 1, 1, self.shared, stream or None, pointers)
        if self.cooperative:
            _runtime.call("cuLaunchCooperativeKernel", *where)
        else:
            _runtime.call("cuLaunchKernel", *where, None)
        # A launch returns before its kernel has failed; this call makes the caller of the launch receive the error.
        _runtime.call("cuCtxSynchronize")

    def _argument(self, ty, value, name, frames):
        if ty[0] == "*":
            if value is None:
                return ctypes.c_uint64(0)
            if isinstance(value, int):
                return ctypes.c_uint64(value)
            _tensors.announce(value, name, frames)
            return ctypes.c_uint64(value.data_ptr())
        if ty in _CONVERSIONS:
            return _CONVERSIONS[ty](float(value))
        if ty not in _TYPES:
            raise WarplineError(f"{self.shown}: parameters of type {ty} ({name}) are not supported")
        made = _TYPES[ty]
        return made(value if made in (ctypes.c_float, ctypes.c_double) else int(value))
