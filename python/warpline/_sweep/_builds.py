"""Compiled programs and profiles of their runs, stored by content in the cache."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Iterable, NamedTuple

from .._binaries import cache_folder, find, run
from .._errors import WarplineError


class DoesNotCompile(WarplineError):
    """The compiler refused a program; the text is its first error."""


class Recorded(NamedTuple):
    """A recorded profile: its file, and its JSON."""

    path: Path
    document: dict[str, Any]


def build(source: Path, options: list[str]) -> Path:
    """Returns the executable of a source with these options. It is compiled again if a file that it includes has
    changed."""
    source = source.resolve()
    folder = _folder("builds", str(source), str(Path.cwd()), *options, _stamp("warpline-cc"))
    kept, program = folder / "files.json", folder / "program"
    if program.is_file() and _unchanged(kept):
        return program
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
        made, rules = Path(scratch, "program"), Path(scratch, "rules.d")
        done = run("warpline", "cc", "-g", *options, "-MD", "-MF", rules, source, "-o", made, check=False)
        if done.returncode != 0:
            raise DoesNotCompile(_first_error(done.stderr))
        files = {str(source), *_dependencies(rules.read_text())}
        partial = Path(scratch, "files.json")
        partial.write_text(json.dumps({file: _digest(Path(file)) for file in sorted(files)}))
        # The list is written last: a program without a list, or with an older one, is compiled again.
        made.replace(program)
        partial.replace(kept)
    return program


def profile(executable: Path, args: list[str], kernel: str, gpu: str, macros: str) -> Recorded:
    """Returns the profile of the first launch of a kernel that matches. Files that the arguments name are part of the
    key."""
    files = [_digest(Path(one)) for one in args if Path(one).is_file()]
    key = [_digest(executable), *args, *files, kernel, gpu, str(Path.cwd()), _stamp("warpline"), _stamp("warpline-cc")]
    kept = _folder("runs", *key) / "launch.wlprof"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="run-", dir=kept.parent) as scratch:
            made = Path(scratch, "launch.wlprof")
            filters = ["--kernels", kernel, "--launches", "0", "--reuse", "off", "--gpu", gpu]
            done = run("warpline", "run", *filters, "-o", made, "--", executable, *args, check=False)
            if done.returncode != 0 and not (made.is_file() and refused_launches(_document(made))):
                raise WarplineError(f"the program with {macros or 'no macros'} ends with exit code {done.returncode}: {_last_words(done)}")
            made.replace(kept)
    return Recorded(kept, _document(kept))


def refused_launches(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the launches that CUDA refused, with the ``name`` of the kernel and the ``reason``. A program that checks
    its launches ends early in this case."""
    return [one for one in document["run"].get("missing", []) if one["what"] == "refused"]


def _document(profile: Path) -> dict[str, Any]:
    return json.loads(run("warpline", "report", profile, "--format", "json").stdout)


def _folder(kind: str, *parts: str) -> Path:
    return cache_folder() / "sweeps" / kind / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.lru_cache(maxsize=None)
def _stamp(name: str) -> str:
    """Returns a value that changes with one of Warpline's programs."""
    stat = find(name).stat()
    return f"{find(name)} {stat.st_size} {stat.st_mtime_ns}"


def _unchanged(kept: Path) -> bool:
    """Returns whether all files of a build have their previous contents."""
    try:
        return all(_digest(Path(file)) == digest for file, digest in json.loads(kept.read_text()).items())
    except (OSError, ValueError):
        return False


@functools.lru_cache(maxsize=4096)
def _digest_of(path: str, size: int, changed: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _digest(path: Path) -> str:
    """Returns a checksum of a file's contents, which is computed again if its size or time has changed."""
    stat = path.stat()
    return _digest_of(str(path), stat.st_size, stat.st_mtime_ns)


def _dependencies(rules: str) -> Iterable[str]:
    """Returns the files of a rule for make, in which spaces in names are escaped."""
    _, _, names = rules.replace("\\\n", " ").partition(": ")
    for name in names.replace("\\ ", "\0").split():
        yield os.path.abspath(name.replace("\0", " "))


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Returns the last line that a program printed, except Warpline's own lines."""
    lines = [line.strip() for line in [*done.stdout.splitlines(), *done.stderr.splitlines()] if line.strip()]
    return next((line for line in reversed(lines) if not line.startswith("warpline: ")), "it printed nothing")


def _first_error(text: str) -> str:
    lines = text.strip().splitlines() or ["no message"]
    return next((line for line in lines if "error" in line), lines[0])
