"""Runs a script, or with ``-m`` a module, as the main program, with Triton's kernels on the CPU device."""

import os
import runpy
import sys

from . import _startup


def main():
    """``python -m warpline._script script.py …``"""
    _startup.watch()
    arguments = sys.argv[1:]
    if arguments[:1] == ["-m"] and len(arguments) > 1:
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
