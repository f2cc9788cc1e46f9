"""Profiles as data frames."""

from __future__ import annotations

import contextlib
import functools
import html
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Literal, Optional, Union, get_args

from ._binaries import run
from ._columns import cells, types
from ._data_frames import of_pandas, of_polars, pandas_module
from ._errors import WarplineError

if TYPE_CHECKING:
    import pandas
    import polars

    from ._profiling import profile

#: The tables of a profile.
Table = Literal["kernels", "lines", "sites", "allocations", "launches", "findings"]

#: The maximum size of a page that a notebook receives and stores, in bytes.
_LARGEST_PAGE = 4 << 20


class Profile:
    """A profile. Its tables are pandas data frames, created when they are first used:

    ``kernels``
        One row per kernel: ``name``, ``file``, ``line``, ``launches``, ``seconds`` (the model's estimate), ``limiter``, and
        figures of global and shared memory (``global_sectors``, ``shared_wavefronts``, …).
    ``lines``
        One row per source line, kernel and memory space: ``file``, ``line``, ``kernel``, ``space`` and figures.
    ``sites``
        One row per memory instruction: source position, ``op``, ``space``, ``width`` (bytes per lane), the distance between
        neighbouring lanes if it is constant (``stride_bytes``), and figures.
    ``allocations``
        One row per array: ``name``, ``kind``, ``size`` (bytes), ``touched_bytes``, ``path``, figures.
    ``launches``
        One row per launch: ``kernel``, ``grid``, ``block``, ``registers``, ``resident_blocks``, ``shared_memory`` (bytes of
        a block), ``path``, figures.
    ``findings``
        One row per finding, the most important first: ``id``, ``severity``, ``kernel``, source position, ``object`` (array),
        ``reason``,
        ``cure``, ``factor`` and ``seconds``, the estimated gain of the cure.

    Counts are integers (``Int64``, missing if a space has none); shares are floats from 0 to 1. ``polars(table)`` returns
    the same tables as polars data frames. ``data`` is the profile's JSON (``docs/profile-v1.schema.json``), and ``path`` is
    its file if it still exists."""

    def __init__(self, tables: dict[str, Any], path: Union[str, Path], whole: bytes) -> None:
        self._tables, self.path, self._bytes = tables, Path(path), whole

    @functools.cached_property
    def data(self) -> dict[str, Any]:
        """Returns the profile's JSON. It is read at its first use, which takes seconds for large profiles."""
        with self._file() as file:
            return json.loads(_report(file, "json"))

    @property
    def model(self) -> str:
        """Returns the GPU model that the caches and estimates use."""
        return self._tables["model"]

    @property
    def complete(self) -> bool:
        """Returns whether the program was recorded to its end."""
        return self._tables["complete"]

    @functools.cached_property
    def kernels(self) -> pandas.DataFrame:
        """See the class."""
        return self._pandas("kernels")

    @functools.cached_property
    def lines(self) -> pandas.DataFrame:
        """See the class."""
        return self._pandas("lines")

    @functools.cached_property
    def sites(self) -> pandas.DataFrame:
        """See the class."""
        return self._pandas("sites")

    @functools.cached_property
    def allocations(self) -> pandas.DataFrame:
        """See the class."""
        return self._pandas("allocations")

    @functools.cached_property
    def launches(self) -> pandas.DataFrame:
        """See the class."""
        return self._pandas("launches")

    @functools.cached_property
    def findings(self) -> pandas.DataFrame:
        """See the class."""
        return self._pandas("findings")

    def polars(self, table: Table) -> polars.DataFrame:
        """Returns a table as a polars data frame, with the same columns: ``p.polars("lines")``."""
        if table not in get_args(Table):
            raise WarplineError(f"there is no table {table!r}; there are {', '.join(get_args(Table))}")
        return of_polars(cells(table, self._tables), types(table))

    def _pandas(self, table: Table) -> pandas.DataFrame:
        return of_pandas(cells(table, self._tables), types(table))

    def report(self) -> str:
        """Returns the report as text."""
        with self._file() as file:
            return run("warpline", "report", file).stdout

    def save(self, path: Union[str, Path]) -> None:
        """Writes the profile to a file that ``warpline report``, ``diff`` and ``explore`` can read."""
        Path(path).write_bytes(self._bytes)

    def html(self, path: Union[str, Path, None] = None) -> Optional[str]:
        """Returns the report as an HTML page: its text, or with ``path`` a file."""
        with self._file() as file:
            if path is None:
                return run("warpline", "report", file, "--format", "html").stdout
            run("warpline", "report", file, "--format", "html", "-o", path)
        return None

    @contextlib.contextmanager
    def _file(self) -> Iterator[Path]:
        """Returns the profile as a file, for the programs."""
        with tempfile.TemporaryDirectory(prefix="warpline-profile-") as folder:
            # The file has the name of the profile, for the programs' messages.
            path = Path(folder, self.path.name)
            path.write_bytes(self._bytes)
            yield path

    def __repr__(self) -> str:
        tables = self._tables["tables"]
        seconds = sum(filter(None, tables["kernels"]["seconds"]))
        kernels, findings = len(tables["kernels"]["line"]), len(tables["findings"]["rank"])
        state = "" if self.complete else ", incomplete"
        return f"<warpline.Profile of {kernels} kernels on {self.model}: {seconds * 1e6:.3g} us estimated, {findings} findings{state}>"

    def _repr_html_(self) -> str:
        """Returns the view in a notebook: kernels by estimated time, the findings, and the report's page with its plots
        and source."""
        kernels = self.kernels.sort_values("seconds", ascending=False)
        shown = ["name", "launches", "seconds", "limiter", "global_coalescing", "global_l1_hit_rate", "shared_bank_efficiency"]
        findings = self.findings[["severity", "id", "kernel", "line", "object", "reason", "cure"]]
        longest = max([one or 0.0 for one in kernels["seconds"]], default=0.0) or 1.0
        bars = "".join(
            f"<tr><td>{html.escape(name)}</td><td style='width:20em'><div style='background:#4c78a8;height:0.9em;"
            f"width:{100 * (seconds or 0.0) / longest:.1f}%'></div></td></tr>"
            for name, seconds in zip(kernels["name"], kernels["seconds"])
        )
        return (
            f"<p><b>{html.escape(repr(self)[1:-1])}</b></p><table>{bars}</table>"
            + kernels[shown].to_html(index=False, float_format="{:.3g}".format)
            + findings.to_html(index=False)
            + _framed(self.html() or "")
        )


def _framed(page):
    """Returns a page in a separate frame, with its style and scripts; the result is empty if the page is too large to
    be stored in a notebook."""
    if len(page) > _LARGEST_PAGE:
        return f"<p>The page of the report has {len(page) >> 20} MB: <code>html(path)</code> writes it to a file.</p>"
    return f"<iframe style='width:100%;height:45em;border:1px solid #ccc' srcdoc=\"{html.escape(page, quote=True)}\"></iframe>"


def load(path: Union[str, Path]) -> Profile:
    """Reads a profile (``.wlprof``)."""
    path = Path(path)
    if not path.is_file():
        raise WarplineError(f"{path}: no such file")
    return Profile(json.loads(_report(path, "tables")), path, path.read_bytes())


def _report(path, form):
    """Returns the report of a profile in one of its forms."""
    done = run("warpline", "report", path, "--format", form, check=False)
    # Exit code 7: the file is damaged, and only a part is shown.
    if done.returncode not in (0, 7):
        raise WarplineError(done.stderr.strip())
    return done.stdout


class Comparison:
    """A comparison of two profiles. ``data`` is the JSON of ``warpline diff``; tables are data frames:

    ``kernels``
        One row per kernel and figure that changed: ``before``, ``after`` (``NaN`` if there was none), ``metric``.
    ``findings``
        Findings that are ``new``, ``gone`` or ``changed`` (``state``)."""

    def __init__(self, data: dict[str, Any], text: str) -> None:
        self.data, self._text = data, text

    @functools.cached_property
    def kernels(self) -> pandas.DataFrame:
        """See the class."""
        rows = [
            (_either(row["name"]), metric, *pair) for row in self.data["kernels"] for metric, pair in row["metrics"].items()
        ]
        columns = {"kernel": str, "metric": str, "before": float, "after": float}
        return of_pandas({name: [row[index] for row in rows] for index, name in enumerate(columns)}, columns)

    @functools.cached_property
    def findings(self) -> pandas.DataFrame:
        """See the class."""
        rows = [{"state": state, **one} for state, found in self.data["findings"].items() for one in found]
        return pandas_module().DataFrame(rows)

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


def _either(name):
    """Returns the name of a kernel, which may have another name after a change or be in only one of the profiles."""
    return name["after"] or name["before"] if isinstance(name, dict) else name


def diff(before: Union[str, Path, Profile, profile], after: Union[str, Path, Profile, profile]) -> Comparison:
    """Compares two profiles: files, or results of :func:`load` and ``profile``."""
    with contextlib.ExitStack() as kept:
        files = [kept.enter_context(_as_profile(one)._file()) for one in (before, after)]
        # Exit code 5: a limit is exceeded, which is not an error here.
        done = run("warpline", "diff", *files, "--format", "json", check=False)
        if done.returncode not in (0, 5):
            raise WarplineError(done.stderr.strip())
        return Comparison(json.loads(done.stdout), run("warpline", "diff", *files, check=False).stdout)


def _as_profile(given: Any) -> Profile:
    """Returns the profile for a file name, a section or a profile."""
    if isinstance(given, Profile):
        return given
    return given.result if hasattr(given, "result") else load(given)
