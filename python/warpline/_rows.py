"""The rows of a profile's tables: what is taken from its JSON, whatever makes data frames of it."""

from pathlib import Path

#: Figures of memory requests, and what is taken from a row of the profile's JSON for each. Without the space they are columns of
#: sites and lines; with ``global_`` and ``shared_`` before them, of kernels, launches and allocations.
_FIGURES = {
    "requests": ("requests",),
    "lanes": ("lanes",),
    "bytes": ("bytes",),
    "sectors": ("sectors",),
    "ideal_sectors": ("ideal_sectors",),
    "wavefronts": ("shared", "wavefronts"),
    "ideal_wavefronts": ("shared", "ideal_wavefronts"),
    "l1_lookups": ("l1", "lookups"),
    "l1_hits": ("l1", "hits"),
    "l2_lookups": ("l2", "lookups"),
    "l2_hits": ("l2", "hits"),
    "dram_read_sectors": ("dram", "read_sectors"),
    "dram_write_sectors": ("dram", "write_sectors"),
}
#: Ratios of two of them: the share of what a request moves that it needs, and of lookups that hit.
_RATIOS = {
    "coalescing": ("ideal_sectors", "sectors"),
    "bank_efficiency": ("ideal_wavefronts", "wavefronts"),
    "l1_hit_rate": ("l1_hits", "l1_lookups"),
    "l2_hit_rate": ("l2_hits", "l2_lookups"),
}
_SPACES = ("global", "shared", "local", "constant")

#: Columns of the tables before those of figures, with their types: text, whole numbers, others, truth, sizes in three dimensions.
_HEADS = {
    "kernels": {"name": str, "file": str, "line": int, "launches": int, "seconds": float, "limiter": str},
    "lines": {"file": str, "line": int, "kernel": str, "space": str},
    "sites": {
        **{"kernel": str, "file": str, "line": int, "column": int, "op": str, "space": str, "width": int},
        **{"stride_bytes": int, "objects": str},
    },
    "allocations": {"name": str, "kind": str, "size": int, "touched_bytes": int, "freed": bool, "path": str},
    "launches": {
        **{"kernel": str, "launch": int, "grid": tuple, "block": tuple, "registers": int, "resident_blocks": int},
        **{"shared_memory": int, "path": str},
    },
    "findings": {
        **{"rank": int, "id": str, "severity": str, "kernel": str, "file": str, "line": int, "object": str},
        **{"reason": str, "cure": str, "factor": float, "seconds": float},
    },
}
#: Tables with figures by memory space.
_BY_SPACE = ("kernels", "launches")


def columns(table):
    """The columns of a table, with their types."""
    if table == "findings":
        return dict(_HEADS[table])
    figures = _by_space({}) if table in _BY_SPACE else _figures({})
    ratios = tuple(_RATIOS)
    return {**_HEADS[table], **{name: float if name.endswith(ratios) else int for name in figures}}


def rows(table, data):
    """The rows of a table."""
    kernel_names = {kernel["id"]: kernel["name"] for kernel in data["kernels"]}
    allocation_names = {one["id"]: one["name"] for one in data["allocations"]}
    return _ROWS[table](data, kernel_names, allocation_names)


def _of(metrics, path):
    for name in path:
        metrics = metrics.get(name) if metrics else None
    return metrics


def _figures(metrics, prefix=""):
    """The columns of one row's metrics."""
    found = {name: _of(metrics, path) for name, path in _FIGURES.items()}
    row = {prefix + name: value for name, value in found.items()}
    for name, (part, whole) in _RATIOS.items():
        row[prefix + name] = found[part] / found[whole] if found[part] is not None and found[whole] else None
    return row


def _by_space(metrics):
    row = {}
    for space in ("global", "shared"):
        row.update(_figures(metrics.get(space), f"{space}_"))
    row["local_requests"] = _of(metrics, ("local", "requests"))
    return row


def _place(frames):
    """A path as text, outermost frame first."""
    return " > ".join(f"{frame['function']} {Path(frame['file']).name}:{frame['line']}" for frame in frames)


def _kernels(data, kernel_names, allocation_names):
    rows = []
    for kernel in data["kernels"]:
        estimates = kernel.get("estimates") or [{}]
        rows.append(
            {
                "name": kernel["name"],
                "file": kernel["file"],
                "line": kernel["line"],
                "launches": kernel["launch_count"],
                "seconds": estimates[0].get("seconds"),
                "limiter": estimates[0].get("limiter"),
                **_by_space(kernel["metrics"]),
            }
        )
    return rows


def _lines(data, kernel_names, allocation_names):
    rows = [
        {
            "file": line["file"],
            "line": line["line"],
            "kernel": kernel_names.get(line["kernel"]),
            "space": space,
            **_figures(line["metrics"][space]),
        }
        for line in data["lines"]
        for space in _SPACES
        if space in line["metrics"]
    ]
    return rows


def _sites(data, kernel_names, allocation_names):
    rows = []
    for site in data["sites"]:
        pattern = site.get("pattern") or {}
        rows.append(
            {
                "kernel": kernel_names.get(site["kernel"]),
                "file": site["file"],
                "line": site["line"],
                "column": site["column"],
                "op": site["op"],
                "space": site["space"],
                "width": site["bytes"],
                "stride_bytes": pattern.get("stride_bytes"),
                "objects": ", ".join(
                    filter(None, (allocation_names.get(one["allocation"]) for one in site["by_allocation"]))
                ),
                **_figures(site["metrics"]),
            }
        )
    return rows


def _allocations(data, kernel_names, allocation_names):
    rows = [
        {
            "name": one["name"],
            "kind": one["kind"],
            "size": one["bytes"],
            "touched_bytes": one.get("touched_bytes"),
            "freed": one["freed"],
            "path": _place(one["path"]),
            **_figures(one["metrics"]),
        }
        for one in data["allocations"]
    ]
    return rows


def _launches(data, kernel_names, allocation_names):
    rows = [
        {
            "kernel": kernel["name"],
            "launch": launch["id"],
            "grid": tuple(launch["grid"]),
            "block": tuple(launch["block"]),
            "registers": launch["registers"],
            "resident_blocks": launch["resident_blocks"],
            "shared_memory": launch["static_shared_bytes"] + launch["dynamic_shared_bytes"],
            "path": _place(launch["path"]),
            **_by_space(launch["metrics"]),
        }
        for kernel in data["kernels"]
        for launch in kernel["launches"]
    ]
    rows.sort(key=lambda row: row["launch"])
    return rows


def _findings(data, kernel_names, allocation_names):
    rows = [
        {
            "rank": one["rank"],
            "id": one["id"],
            "severity": one["severity"],
            "kernel": kernel_names.get(one["kernel"]),
            "file": one["file"],
            "line": one["line"],
            "object": one["object"] or allocation_names.get(one["allocation"]),
            "reason": one["reason"],
            "cure": one["cure"],
            "factor": (one["gain"] or {}).get("factor"),
            "seconds": (one["gain"] or {}).get("seconds"),
        }
        for one in data["findings"]
    ]
    return rows


_ROWS = {
    "kernels": _kernels,
    "lines": _lines,
    "sites": _sites,
    "allocations": _allocations,
    "launches": _launches,
    "findings": _findings,
}
