"""Notes to the user, each once."""

import sys

_said: set = set()


def tell(what):
    """Prints a note, unless it was printed before."""
    if what not in _said:
        _said.add(what)
        print(f"warpline: note: {what}", file=sys.stderr)
