"""Installs the Triton driver as soon as a profiled program imports Triton. Loaded by ``warpline.pth`` in every Python that
``warpline run`` starts, so it imports nothing of weight."""

import importlib.abc
import importlib.util
import sys


class _AfterTriton(importlib.abc.MetaPathFinder):
    """Finds Triton as everybody else does, and does something once it is imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "triton" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                from . import triton as ours

                ours.install()

            spec.loader.exec_module = exec_module
        return spec


def watch():
    """Waits for Triton, or takes it where it is there."""
    if "triton" in sys.modules:
        from . import triton as ours

        ours.install()
    elif not any(isinstance(finder, _AfterTriton) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterTriton())


watch()
