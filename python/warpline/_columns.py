"""The tables of a profile by columns, as ``warpline report --format tables`` writes them, with their declared types."""

#: Figures of memory requests. Without a space, they are columns of sites, lines and allocations; with the prefix
#: ``global_`` or ``shared_``, they are columns of kernels and launches.
_FIGURES = {
    **dict.fromkeys(("requests", "lanes", "bytes", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts"), int),
    **dict.fromkeys(("l1_lookups", "l1_hits", "l1_load_lookups", "l1_load_hits", "l2_lookups", "l2_hits", "dram_read_sectors", "dram_write_sectors"), int),
    **dict.fromkeys(("coalescing", "bank_efficiency", "l1_hit_rate", "l1_store_hit_rate", "l2_hit_rate"), float),
}
_BY_SPACE = {
    **{f"{space}_{name}": kind for space in ("global", "shared") for name, kind in _FIGURES.items()},
    "local_requests": int,
}

#: The columns of the tables, with their types: text, integers, other numbers, truth values, sizes in three dimensions.
_COLUMNS = {
    "kernels": {"name": str, "file": str, "line": int, "launches": int, "seconds": float, "limiter": str, **_BY_SPACE},
    "lines": {"file": str, "line": int, "kernel": str, "space": str, **_FIGURES},
    "sites": {
        **{"kernel": str, "file": str, "line": int, "column": int, "op": str, "space": str, "width": int},
        **{"stride_bytes": int, "objects": str},
        **_FIGURES,
    },
    "allocations": {
        **{"name": str, "kind": str, "size": int, "touched_bytes": int, "freed": bool, "path": str},
        **_FIGURES,
    },
    "launches": {
        **{"kernel": str, "launch": int, "grid": tuple, "block": tuple, "registers": int, "resident_blocks": int},
        **{"shared_memory": int, "path": str},
        **_BY_SPACE,
    },
    "findings": {
        **{"rank": int, "id": str, "severity": str, "title": str, "cause": str, "remedy": str},
        **{"kernel": str, "file": str, "line": int, "object": str},
        **{"reason": str, "cure": str, "factor": float, "seconds": float},
    },
}


def types(table):
    """Returns the columns of a table, with their types."""
    return dict(_COLUMNS[table])


def cells(table, document):
    """Returns the columns of a table, with their cells."""
    columns, texts = document["tables"][table], document["texts"]
    return {name: _cells(columns[name], kind, texts) for name, kind in _COLUMNS[table].items()}


def _cells(column, kind, texts):
    if kind is str:
        return [None if number is None else texts[number] for number in column]
    return [tuple(size) for size in column] if kind is tuple else column
