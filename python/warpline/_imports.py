"""Runs an action when a module is imported. This module imports only small modules itself."""

import importlib.abc
import importlib.util
import sys


class _After(importlib.abc.MetaPathFinder):
    """Finds a module through the other finders, and runs an action after its import."""

    def __init__(self, wanted, action):
        self.wanted, self.action, self.asking = wanted, action, False

    def find_spec(self, name, path=None, target=None):
        if name != self.wanted or self.asking:
            return None
        # The caller may only test whether the module exists, as PyTorch does; the import follows later, or never.
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
    """Calls ``action()`` after the module is imported, or immediately if it already is."""
    if name in sys.modules:
        action()
    elif not any(isinstance(finder, _After) and finder.wanted == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _After(name, action))
