"""The arrays that a swept kernel receives: they are on the CPU, and unchanged afterwards."""

from __future__ import annotations

import ctypes
from typing import Any, Iterable

from .._arrays import as_argument, memory


def on_the_cpu(values: Any) -> Any:
    """Returns the same arguments, with tensors of GPUs copied to the CPU."""
    if isinstance(values, dict):
        return {name: on_the_cpu(value) for name, value in values.items()}
    if isinstance(values, tuple):
        parts = [on_the_cpu(value) for value in values]
        return type(values)(*parts) if hasattr(values, "_fields") else tuple(parts)
    device = getattr(values, "device", None)
    if hasattr(values, "data_ptr") and getattr(device, "type", "cpu") != "cpu":
        return values.cpu()
    return values


class Restored:
    """The memory of arrays, whose contents are restored by :meth:`restore` and at the end."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._kept: dict[int, bytes] = {}
        for value in _flat(values):
            found = memory(value)
            if found is not None and found.bytes and len(self._kept.get(found.start, b"")) < found.bytes:
                self._kept[found.start] = ctypes.string_at(found.start, found.bytes)

    def restore(self) -> None:
        """Restores the contents."""
        for start, contents in self._kept.items():
            ctypes.memmove(start, contents, len(contents))

    def __enter__(self) -> Restored:
        return self

    def __exit__(self, *_: Any) -> None:
        self.restore()


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    """Returns the arrays among the arguments, including those in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from _flat(value)
            continue
        argument = as_argument(value)
        if hasattr(argument, "data_ptr"):
            yield argument
