"""Merges profiles of one program, as a tree."""

from pathlib import Path

from ._call import absolute, opened, paths_of
from ._engine import Node, execute
from ._errors import Damaged, Misused
from ._merge_task import merge_files, merge_outcomes
from ._results import Merged, Result
from ._store import copy_file

#: The number of profiles of a node. A larger number starts fewer processes and writes fewer files; a smaller number
#: leaves less work to the last process, which runs alone.
FAN_IN = 64
#: The number of profiles at the beginning that are tried as the profile which all others must match.
_CANDIDATES = 16


def merge(profiles, output=None, *, fan_in=FAN_IN, store=None, client=None, workers=None, progress=None):
    """Merges profiles of processes, ranks or runs, ``fan_in`` at a time, and copies the result to ``output``, if given.

    Profiles that are damaged, missing or belong to another program than the first are excluded and reported: see :class:`Merged`.
    The rest is as with :func:`simulate`."""
    paths = paths_of(profiles, "profile")
    if fan_in < 2:
        raise Misused("fan_in: a node merges two profiles or more")
    store, site = opened(store)
    nodes, below = _tree(list(map(absolute, paths)), fan_in, site)
    failed, reused, cpu = {}, 0, 0.0

    def done(position, outcome):
        nonlocal reused, cpu
        reused += outcome.reused
        cpu += outcome.cpu_seconds
        for at, code, why in outcome.failed:
            for path in below(position, at):
                failed[path] = Result(paths[path], {}, error=why, exit_code=code)

    outcomes = execute(nodes, "merge", client, workers, progress, done=done)
    root = outcomes[len(nodes) - 1]
    left_out = [failed[position] for position in sorted(failed)]
    if not root.key:
        first = left_out[0]
        raise Damaged(f"none of {len(paths)} profiles could be merged; the first, {first.input}: {first.error}")
    path = store.place(root.key, root.suffix)
    if output is not None:
        copy_file(path, Path(output))
        path = Path(output)
    return Merged(
        path,
        len(paths) - len(left_out),
        notes=root.notes,
        failed=left_out,
        reused=root.reused,
        sha256=root.sha256,
        tasks=len(nodes),
        tasks_reused=reused,
        cpu_seconds=cpu,
    )


def _tree(paths, fan_in, site):
    """Returns the nodes, children before parents and the root last, and the paths below each member of a node."""
    first = tuple(paths[:_CANDIDATES])
    nodes, ranges = [], []
    # The complete nodes of each level that do not have a parent yet.
    open_levels = [[]]

    def add(node, members):
        nodes.append(node)
        ranges.append(members)
        return len(nodes) - 1

    def close(level):
        children = tuple(open_levels[level])
        open_levels[level] = []
        members = [range(ranges[child][0].start, ranges[child][-1].stop) for child in children]
        parent = add(Node(merge_outcomes, (site, first), children), members)
        raise_(level + 1, parent)

    def raise_(level, node):
        while len(open_levels) <= level:
            open_levels.append([])
        open_levels[level].append(node)
        if len(open_levels[level]) == fan_in:
            close(level)

    for start in range(0, len(paths), fan_in):
        chunk = tuple(paths[start : start + fan_in])
        leaf = add(Node(merge_files, (site, chunk, first)), [range(start + at, start + at + 1) for at in range(len(chunk))])
        raise_(0, leaf)
    level = 0
    while level < len(open_levels):
        above = any(open_levels[level + 1 :])
        if len(open_levels[level]) == 1 and not above:
            break
        if len(open_levels[level]) == 1:
            raise_(level + 1, open_levels[level].pop())
        elif open_levels[level]:
            close(level)
        level += 1
    return nodes, lambda position, at: ranges[position][at]
