"""Notes to the user, each printed once."""

import sys

_said: set = set()


def tell(what):
    """Prints a note, unless it was already printed."""
    if what not in _said:
        _said.add(what)
        print(f"warpline: note: {what}", file=sys.stderr)
