"""The programs, as commands of the environment in which the package is installed."""

import os
import sys

from ._binaries import find


def _become(name, called=None):
    path = str(find(name))
    # The program finds its companion programs in its folder. The compiler's option syntax depends on the name by which
    # it is called.
    os.execv(path, [called or path, *sys.argv[1:]])


def warpline():
    """``warpline``"""
    _become("warpline")


def warpline_cc():
    """``warpline-cc``"""
    _become("warpline-cc")


def warpline_nvcc():
    """``warpline-nvcc``"""
    _become("warpline-cc", "warpline-nvcc")


def warpline_clangxx():
    """``warpline-clang++``"""
    _become("warpline-cc", "warpline-clang++")
