"""The values that a kernel accepts as a pointer: PyTorch's CPU tensors, NumPy's arrays, and every object with the array
interface or DLPack."""

import weakref

from ._errors import WarplineError

#: NumPy's names of element types that Triton supports.
_TYPES = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
}


class Array:
    """An array in the form that Triton accepts, with ``data_ptr()`` and ``dtype``. ``source`` is the program's own
    object."""

    __slots__ = ("source", "dtype", "shape", "strides", "itemsize", "_pointer", "_keep")

    def __init__(self, source, array):
        self.source = source
        self.dtype = _Type(array.dtype)
        self.shape, self.itemsize = array.shape, array.dtype.itemsize
        self.strides = tuple(step // self.itemsize for step in array.strides)
        self._pointer = array.__array_interface__["data"][0]
        self._keep = array

    def data_ptr(self):
        """Returns the address of the first element."""
        return self._pointer

    def element_size(self):
        """Returns the size of an element in bytes."""
        return self.itemsize

    def stride(self, axis=None):
        """Returns the distances between neighbours, in elements."""
        return self.strides if axis is None else self.strides[axis]

    def zero_(self):
        """Fills the array with zeros, as Triton's tuner requires (``reset_to_zero``)."""
        self._keep[...] = 0
        return self

    def clone(self):
        """Returns a copy, as Triton's tuner requires (``restore_value``)."""
        copy = self._keep.copy()
        return Array(copy, copy)

    def copy_(self, other):
        """Copies the elements of another array."""
        self._keep[...] = other._keep
        return self

    def owner(self):
        """Returns the array that owns the memory, of which this array may be a part."""
        array = self._keep
        while isinstance(array.base, type(array)):
            array = array.base
        return array


class _Type:
    """An element type; Triton reads its name from the text."""

    __slots__ = ("name",)

    def __init__(self, dtype):
        if dtype.name not in _TYPES:
            raise WarplineError(f"Triton has no elements of type {dtype.name}")
        if not dtype.isnative:
            raise WarplineError(f"an array's elements have the byte order of another machine ({dtype.str}): astype({dtype.name!r}) gives them this one's")
        self.name = dtype.name

    def __str__(self):
        return f"warpline.{self.name}"

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, _Type) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


def as_argument(value):
    """Returns the value that Triton receives for an argument: arrays without ``data_ptr()`` become an :class:`Array`,
    also within tuples; all other values are unchanged."""
    if hasattr(value, "data_ptr") or isinstance(value, (int, float, bool, str, bytes, list, type(None))):
        return value
    if isinstance(value, tuple):
        parts = [as_argument(one) for one in value]
        # Tuples with names are created from their parts.
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if not hasattr(value, "__array_interface__") and not hasattr(value, "__dlpack__"):
        return value
    import numpy

    if type(value) is numpy.ndarray:
        return Array(value, value)
    if isinstance(value, numpy.generic):
        return value.item()
    array = numpy.asarray(value) if hasattr(value, "__array_interface__") else numpy.from_dlpack(value)
    return Array(value, array)


class Memory:
    """The memory of an argument: its start, its size in bytes, and the object that keeps it alive."""

    __slots__ = ("start", "bytes", "owner", "source")

    def __init__(self, start, size, owner, source):
        self.start, self.bytes, self.owner, self.source = start, size, owner, source


def memory(argument):
    """Returns the memory of an argument with ``data_ptr()``, or ``None`` if it has none, as for a plain address."""
    if isinstance(argument, Array):
        owner = argument.owner()
        start, size = _extent(owner)
        return Memory(start, size, owner, argument.source)
    if hasattr(argument, "storage"):
        if argument.device.type != "cpu":
            raise WarplineError(f"a tensor lies on {argument.device}: the CPU device takes tensors of the CPU")
        # PyTorch 1 offers only this function.
        storage = argument.untyped_storage() if hasattr(argument, "untyped_storage") else argument.storage()
        # A view's memory lives as long as the tensor that it shows; the object of a storage may be created anew each
        # time.
        base = getattr(argument, "_base", None)
        return Memory(storage.data_ptr(), storage.nbytes(), argument if base is None else base, argument)
    # A tensor that Triton treats as one with another element type (`triton.reinterpret`).
    base = getattr(argument, "base", None)
    if hasattr(base, "data_ptr"):
        return memory(base)
    size = getattr(argument, "nbytes", None)
    return Memory(argument.data_ptr(), size, argument, argument) if size else None


def _extent(array):
    """Returns the first byte and the number of bytes of an array, whatever its strides are."""
    start = array.__array_interface__["data"][0]
    if not array.size:
        return start, 0
    low = sum(min(0, step * (size - 1)) for size, step in zip(array.shape, array.strides))
    high = sum(max(0, step * (size - 1)) for size, step in zip(array.shape, array.strides))
    return start + low, high - low + array.itemsize


def shares(memory):
    """Returns a test for variables that hold this memory: the same object is best, otherwise one that starts at the
    same address."""

    def same(value):
        if value is memory.source or value is memory.owner:
            return True
        if type(value).__module__.partition(".")[0] != "torch" or not hasattr(value, "storage"):
            return False
        try:
            storage = value.untyped_storage if hasattr(value, "untyped_storage") else value.storage
            return value.device.type == "cpu" and storage().data_ptr() == memory.start
        except (AttributeError, RuntimeError):
            return False

    return same


def watch(owner, gone):
    """Calls ``gone()`` when the owner is destroyed; returns false if this cannot be detected."""
    try:
        weakref.finalize(owner, gone).atexit = False
    except TypeError:
        return False
    return True
