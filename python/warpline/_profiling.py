"""Profiles of a piece of a program."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional, Union

from . import _runtime
from ._binaries import run
from ._errors import WarplineError
from ._tables import Profile, load


class profile:
    """Profiles the kernels of a ``with`` block, or of each call of a function that it decorates::

        with warpline.profile(gpu="a100") as p:
            kernel[grid](x, y)
        p.lines

    ``gpu`` is a model of ``warpline gpus``, and is fixed by the first profile or kernel of the process. With ``output``, the
    profile is stored in that file. After the block, the object is the :class:`warpline.Profile` of the kernels that ran in
    it; for a decorated function, ``f.profile`` is the profile of its last call."""

    def __init__(self, gpu: Optional[str] = None, output: Union[str, Path, None] = None) -> None:
        self._gpu, self._output = gpu, output
        self._profile: Optional[Profile] = None

    def __enter__(self) -> profile:
        _runtime.configure(self._gpu)
        self._folder = tempfile.TemporaryDirectory(prefix="warpline-profile-")
        self._trace = os.path.join(self._folder.name, "section.wltrace")
        _runtime.call("__warpline_section_begin", self._trace.encode(), False)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            _runtime.call("__warpline_section_end")
            output = Path(self._output) if self._output else Path(self._folder.name, "section.wlprof")
            self._profile = _simulate(self._trace, output)
        finally:
            self._folder.cleanup()

    def __call__(self, function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def profiled(*args: Any, **kwargs: Any) -> Any:
            with profile(self._gpu, self._output) as section:
                result = function(*args, **kwargs)
            setattr(profiled, "profile", section.result)
            return result

        setattr(profiled, "profile", None)
        return profiled

    @property
    def result(self) -> Profile:
        """Returns the profile, after the block."""
        if self._profile is None:
            raise WarplineError("the profile is there when the block is over")
        return self._profile

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.result, name)

    def __repr__(self) -> str:
        return "<warpline.profile that is not over>" if self._profile is None else repr(self._profile)

    def _repr_html_(self) -> str:
        return self.result._repr_html_()


def _simulate(trace: str, output: Path) -> Profile:
    """Returns the profile of a trace."""
    _sim(trace, "-o", output)
    return load(output)


def _sim(trace: str, *options: Union[str, Path]) -> subprocess.CompletedProcess[str]:
    """Analyses a trace on the chosen model."""
    model = _runtime.model()
    done = run("warpline", "sim", trace, *(["--gpu", model] if model else []), *options, check=False)
    # Exit code 7: the profile is incomplete, which it reports itself.
    if done.returncode not in (0, 7):
        raise WarplineError(f"the profile cannot be made: {done.stderr.strip()}")
    return done


def estimate(function: Callable[[], Any]) -> float:
    """Returns the seconds that the model of the GPU estimates for the kernels that ``function()`` launches. If only a
    few blocks of a launch run, they represent all of its blocks."""
    _runtime.configure()
    with tempfile.TemporaryDirectory(prefix="warpline-estimate-") as folder:
        trace = os.path.join(folder, "section.wltrace")
        _runtime.call("__warpline_section_begin", trace.encode(), True)
        try:
            function()
        finally:
            _runtime.call("__warpline_section_end")
        # Reuse distances are not needed for an estimate, and take the most time.
        return float(_sim(trace, "--seconds", "--reuse", "off").stdout)
