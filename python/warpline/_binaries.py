"""Where Warpline's programs are, and how they are run."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from ._errors import WarplineError

#: A folder with ``warpline`` and ``warpline-cc`` that comes before the package's own and the search path.
FOLDER_VARIABLE = "WARPLINE_BIN"

#: The runtime as a shared library, where it was made with the package.
RUNTIME = "libwarpline_rt.so"

_OWN = Path(__file__).resolve().parent / "bin"


def find(name):
    """The path of one of Warpline's programs."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    for folder in [Path(chosen)] if chosen else [_OWN]:
        if os.access(folder / name, os.X_OK):
            return folder / name
    found = shutil.which(name)
    if found and Path(found).resolve() != Path(shutil.which("python") or "").resolve():
        return Path(found)
    raise WarplineError(f"{name} not found (searched: {chosen or _OWN} and PATH): set {FOLDER_VARIABLE} to its folder")


def run(name, *arguments, check=True):
    """Runs one of the programs and returns the finished process, with its text."""
    command = [str(find(name)), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if check and done.returncode != 0:
        message = done.stderr.strip() or f"exit code {done.returncode}"
        raise WarplineError(f"{name} {' '.join(map(str, arguments))}: {message}")
    return done


def runtime_library():
    """The runtime's shared library: the package's, or one that the compiler makes of its own runtime and that is kept."""
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
    """Where Warpline keeps files of its own."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "warpline"
