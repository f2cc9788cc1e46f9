"""Doing something as soon as somebody imports a module. Imports nothing of weight."""

import importlib.abc
import importlib.util
import sys


class _After(importlib.abc.MetaPathFinder):
    """Finds a module as everybody else does, and does something once it is imported."""

    def __init__(self, wanted, action):
        self.wanted, self.action, self.asking = wanted, action, False

    def find_spec(self, name, path=None, target=None):
        if name != self.wanted or self.asking:
            return None
        # The caller may only test whether the module is there, as PyTorch does: the import comes later, or never.
        self.asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asking = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                execute(module)
                self.action()

            spec.loader.exec_module = exec_module
        return spec


def after(name, action):
    """Calls ``action()`` once the module is imported: now, where it is."""
    if name in sys.modules:
        action()
    elif not any(isinstance(finder, _After) and finder.wanted == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _After(name, action))
