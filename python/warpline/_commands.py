"""The programs, as commands of the environment that the package is installed in."""

import os
import sys

from ._binaries import find


def _become(name):
    path = str(find(name))
    # The program finds its companions beside it.
    os.execv(path, [path, *sys.argv[1:]])


def warpline():
    """``warpline``"""
    _become("warpline")


def warpline_cc():
    """``warpline-cc``"""
    _become("warpline-cc")
