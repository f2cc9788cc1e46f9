"""Runs the cells of a notebook as Jupyter does: each a file of its own, and what its last expression gives is its output.

``python notebook.py FILE`` writes the outputs into the notebook."""

import ast
import contextlib
import io
import json
import linecache
import os
import sys
import tempfile
from pathlib import Path

from warpline import _frames

# As Jupyter's own frames, these are no part of a path.
_frames.hide_file(__file__)

#: What stands in a notebook in the place of folders of the machine that ran it.
PLACES = {str(Path(__file__).parents[2]): "/home/user/warpline", str(Path.home()): "/home/user"}


def load(path):
    """The notebook."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def outputs(notebook):
    """Runs the code cells, one after another; of each what Jupyter would keep."""
    variables = {"__name__": "__main__"}
    for number, cell in enumerate(one for one in notebook["cells"] if one["cell_type"] == "code"):
        yield cell, run("".join(cell["source"]), number + 1, variables)


def run(text, number, variables):
    """The outputs of one cell."""
    name = os.path.join(tempfile.gettempdir(), f"ipykernel_{os.getpid()}", f"{number}.py")
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    tree = ast.parse(text, name)
    shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), variables)
        value = eval(compile(ast.Expression(shown.value), name, "eval"), variables) if shown else None
    found = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_") and (page := value._repr_html_()):
            data["text/html"] = lines(page)
        found.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    return found


def lines(text):
    """Text as notebooks keep it."""
    return text.splitlines(keepends=True)


def plain(found):
    """What is the same in every run: without pages, which hold the day and the machine."""
    return ["".join(one["text"] if one["output_type"] == "stream" else one["data"]["text/plain"]) for one in found]


def main(path):
    """Runs a notebook and keeps its outputs in it."""
    notebook = load(path)
    number = 0
    for cell, found in outputs(notebook):
        number += 1
        cell["outputs"], cell["execution_count"] = found, number
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    for real, shown in PLACES.items():
        text = text.replace(real, shown)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
