"""``python -m warpline query DIR [SQL]``, which is also ``warpline query``: queries a dataset in SQL."""

import argparse
import csv
import json
import math
import os
import sys

from ._dataset import Dataset
from ._errors import WarplineError

_USAGE, _UNREADABLE, _TOOLCHAIN = 2, 3, 6
#: The number of rows of a table that are shown if no number is given.
_ROWS = 40
#: The maximum number of characters in a cell of a table; longer texts are cut in the middle.
_WIDTH = 48

_EXAMPLES = """examples:
  warpline query runs --views                                   the common questions
  warpline query runs hot_lines                                 one of them
  warpline query runs "SELECT * FROM kernel_history WHERE kernel_name LIKE 'stencil%'" --format csv
  warpline query runs --tables lines                            the columns of a table"""


def _arguments(given):
    parser = argparse.ArgumentParser(
        prog="warpline query",
        description="Queries a dataset of `warpline export`, in DuckDB's SQL. Nothing can be written.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", help="folder of the dataset")
    parser.add_argument("sql", metavar="SQL", nargs="?", help="a SELECT, or the name of a table or view")
    parser.add_argument("--views", action="store_true", help="list the views: common questions")
    parser.add_argument(
        "--tables", metavar="TABLE", nargs="?", const="", help="list the tables, or the columns of one with their units"
    )
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table", help="form of the answer (default: table)")
    parser.add_argument("--rows", metavar="N", type=int, default=_ROWS, help=f"rows of a table, 0 all (default: {_ROWS})")
    arguments = parser.parse_args(given)
    if sum((bool(arguments.sql), arguments.views, arguments.tables is not None)) != 1:
        parser.error("give either SQL, --views or --tables")
    return arguments


def _shown(value):
    """Returns the text of a value, in which characters that control a terminal are escaped."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(value))


def _cut(text):
    half = (_WIDTH - 3) // 2
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3 - half]}...{text[-half:]}"


def _table(names, batches, rows, out):
    """Returns the first rows as text; each column is as wide as necessary, and figures are right-aligned."""
    kept, more = [], False
    for batch in batches:
        kept += batch
        if rows and len(kept) > rows:
            kept, more = kept[:rows], True
            break
    figures = [all(isinstance(row[at], (int, float, type(None))) for row in kept) for at in range(len(names))]
    lines = [[_cut(_shown(value)) for value in row] for row in [names, *kept]]
    widths = [max(len(line[at]) for line in lines) for at in range(len(names))]
    for line in lines:
        cells = [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(line, widths, figures)]
        out.write("  ".join(cells).rstrip() + "\n")
    if more:
        out.flush()
        print(f"warpline: the first {rows} rows; --rows 0 shows all", file=sys.stderr)


def _csv(names, batches, _, out):
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for batch in batches:
        writer.writerows(batch)


def _plain(value):
    """Returns a value in the form of JSON."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (dict, list, tuple)):
        return [_plain(one) for one in value] if not isinstance(value, dict) else {str(k): _plain(v) for k, v in value.items()}
    return value if isinstance(value, (int, str, bool, type(None))) else str(value)


def _json(names, batches, _, out):
    out.write("[")
    between = "\n"
    for batch in batches:
        for row in batch:
            out.write(between + json.dumps(dict(zip(names, map(_plain, row))), ensure_ascii=False))
            between = ",\n"
    out.write("\n]\n")


_FORMATS = {"table": _table, "csv": _csv, "json": _json}


def _answer(dataset, arguments, out):
    write = _FORMATS[arguments.format]
    if arguments.views:
        rows = [(view.name, view.about) for view in dataset.views.values()]
        return _list(("view", "what it answers"), rows, arguments, out)
    if arguments.tables == "":
        rows = [(name, table["description"]) for name, table in dataset.tables.items()]
        return _list(("table", "what a row is"), rows, arguments, out)
    if arguments.tables is not None:
        if arguments.tables not in dataset.tables:
            raise WarplineError(f"there is no table {arguments.tables}; --tables lists them")
        columns = dataset.tables[arguments.tables]["columns"] + dataset.manifest["partitions"]
        rows = [(one["name"], one["type"], one.get("unit", ""), one["description"]) for one in columns]
        return _list(("column", "type", "unit", "meaning"), rows, arguments, out)
    names, batches = dataset.batches(arguments.sql)
    return write(names, batches, max(arguments.rows, 0), out)


def _list(names, rows, arguments, out):
    if arguments.format != "table":
        return _FORMATS[arguments.format](names, [rows], 0, out)
    widths = [max(len(str(row[at])) for row in [names, *rows]) for at in range(len(names) - 1)]
    for row in [names, *rows]:
        out.write("  ".join([*(str(cell).ljust(width) for cell, width in zip(row, widths)), str(row[-1])]) + "\n")


def main(given=None):
    """Runs the command line; returns the exit code."""
    arguments = _arguments(given)
    try:
        import duckdb  # noqa: F401
    except ImportError:
        print("warpline: queries need DuckDB: pip install duckdb (or warpline[query])", file=sys.stderr)
        return _TOOLCHAIN
    try:
        dataset = Dataset(arguments.folder)
    except WarplineError as error:
        print(f"warpline: {error}", file=sys.stderr)
        return _UNREADABLE
    with dataset:
        try:
            _answer(dataset, arguments, sys.stdout)
            sys.stdout.flush()
        except WarplineError as error:
            print(f"warpline: {error}", file=sys.stderr)
            return _USAGE
        except BrokenPipeError:
            # The reader has ended, which is not an error; nothing may be flushed at the end either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
