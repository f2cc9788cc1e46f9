"""``python -m warpline run [options of warpline run] script.py arguments…``: profiles a Python program's kernels.

``python -m warpline query DIR SQL`` queries a dataset. ``python -m warpline cluster merge|sim|predict|diff|export …`` works on
many profiles or traces at once, with Dask. Other commands are those of ``warpline``.
"""

import os
import sys
from pathlib import Path

from ._binaries import find

#: Commands that only this package offers.
_OWN_COMMANDS = """Of the Python package:
  python -m warpline run [OPTIONS] SCRIPT [ARGUMENTS]   profile a Python program's kernels (also -m MODULE)
  python -m warpline query DIR SQL                      query a dataset, with DuckDB
  python -m warpline cluster COMMAND                    merge, sim, predict, diff, export: many profiles or traces at once, with Dask

All other commands are those of `warpline`:
"""

#: Options of ``warpline run`` that take no value.
_FLAGS = {"--children", "--interleave", "--help", "-h"}


def _run(arguments):
    """Splits options from the script, and starts this Python under ``warpline run``."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        option = arguments[at]
        if option == "--":
            at += 1
            break
        if option == "-m":
            break
        at += 1 if "=" in option or option in _FLAGS else 2
    options, program = [one for one in arguments[:at] if one != "--"], arguments[at:]
    if not program and not _FLAGS.intersection(options):
        sys.exit("usage: python -m warpline run [options of warpline run] script.py [arguments]")
    package = str(Path(__file__).resolve().parent.parent)
    search = os.environ.get("PYTHONPATH", "")
    if package not in search.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [package, search]))
    path = str(find("warpline"))
    if not any(option == "-o" or option.startswith("--output") for option in options) and program:
        name = program[1] if program[0] == "-m" and len(program) > 1 else program[0]
        options += ["-o", f"warpline.{Path(name).stem}.wlprof"]
    os.execv(path, [path, "run", *options, "--", sys.executable, "-m", "warpline._script", *program])


def main():
    """The command line."""
    if sys.argv[1:2] == ["run"]:
        _run(sys.argv[2:])
    if sys.argv[1:2] == ["cluster"]:
        from .cluster._command import main as cluster

        sys.exit(cluster(sys.argv[2:]))
    if sys.argv[1:2] == ["query"]:
        from ._query import main as query

        sys.exit(query(sys.argv[2:]))
    if sys.argv[1:2] in (["--help"], ["-h"], []):
        print(_OWN_COMMANDS, flush=True)
    path = str(find("warpline"))
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
