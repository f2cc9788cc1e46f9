"""Finds and runs Warpline's programs."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from ._errors import WarplineError

#: A folder with ``warpline`` and ``warpline-cc`` that takes precedence over the package's own folder and the search
#: path.
FOLDER_VARIABLE = "WARPLINE_BIN"

#: The runtime as a shared library, if it was built with the package.
RUNTIME = "libwarpline_rt.so"

_OWN = Path(__file__).resolve().parent / "bin"


def find(name):
    """Returns the path of one of Warpline's programs."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    for folder in [Path(chosen)] if chosen else [_OWN]:
        if os.access(folder / name, os.X_OK):
            return folder / name
    found = shutil.which(name)
    if found and Path(found).resolve() != Path(shutil.which("python") or "").resolve():
        return Path(found)
    raise WarplineError(f"{name} not found (searched: {chosen or _OWN} and PATH): set {FOLDER_VARIABLE} to its folder")


def run(name, *arguments, check=True):
    """Runs one of the programs and returns the finished process, with its output as text."""
    command = [str(find(name)), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if check and done.returncode != 0:
        message = done.stderr.strip() or f"exit code {done.returncode}"
        raise WarplineError(f"{name} {' '.join(map(str, arguments))}: {message}")
    return done


def runtime_library():
    """Returns the runtime's shared library: that of the package, or one that the compiler builds from its own runtime
    and stores."""
    compiler = find("warpline-cc")
    carried = compiler.resolve().parent.parent / "lib" / "warpline" / RUNTIME
    if carried.is_file():
        return carried
    stamp = compiler.stat()
    key = hashlib.sha256(f"{compiler}{stamp.st_size}{stamp.st_mtime_ns}".encode()).hexdigest()[:16]
    kept = cache_folder() / f"libwarpline_rt-{key}.so"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        run("warpline-cc", "--warpline-runtime", "-o", partial)
        partial.replace(kept)
    return kept


def cache_folder():
    """Returns the folder in which Warpline stores its files."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "warpline"
