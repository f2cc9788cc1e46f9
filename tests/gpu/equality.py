"""One program's profile from a GPU against that from the CPU device.

Lanes and bytes of a site must be equal for a program whose control flow does not depend on races. Requests, sectors,
pieces, block and branch counts must be equal wherever the GPU runs a warp's lanes together, which it need not do in
unstructured control flow: such differences are listed and counted.
"""

MUST_BE_EQUAL = ("lanes", "bytes")
MAY_DIFFER = ("requests", "sectors", "ideal_sectors", "lines_touched")
COUNTS = (("branches", ("file", "line", "executions", "divergent", "lanes")),
          ("blocks", ("file", "line", "executions", "lanes", "partial")))


def sites(profile):
    """By place and kernel. Kernels go by name: their numbers are in the order of first launches, which two streams may change."""
    names = {kernel["id"]: kernel["name"] for kernel in profile["kernels"]}
    found = {}
    for site in profile["sites"]:
        key = (site["file"].rsplit("/", 1)[-1], site["line"], site["column"], site["op"], site["space"],
               names.get(site["kernel"], site["kernel"]), site["id"])
        found[key] = site["metrics"]
    return found


def counts(profile, what, fields):
    return sorted(tuple(str(entry[field]) for field in fields) for entry in profile[what])


def compare(cpu, gpu):
    """The result: sites, those whose every count is equal, errors and differences as text."""
    errors, differences, equal = [], [], 0
    ours, theirs = sites(cpu), sites(gpu)
    # Texture fetches are counted on the CPU device only.
    hidden = {(entry["file"].rsplit("/", 1)[-1], entry["line"]) for entry in gpu["not_seen"]
              if entry["what"].startswith("on a GPU: ")}
    keys = [key for key in sorted(set(ours) | set(theirs)) if key in theirs or key[:2] not in hidden]
    for key in keys:
        a, b = ours.get(key), theirs.get(key)
        if a is None or b is None:
            errors.append(f"{key}: only on the {'GPU' if a is None else 'CPU device'}")
            continue
        wrong = [f"{key}: {field} {a[field]} on the CPU device, {b[field]} on the GPU"
                 for field in MUST_BE_EQUAL if a[field] != b[field]]
        other = [f"{key}: {field} {a.get(field)} on the CPU device, {b.get(field)} on the GPU"
                 for field in MAY_DIFFER if a.get(field) != b.get(field)]
        errors += wrong
        differences += other
        equal += not wrong and not other
    for what, fields in COUNTS:
        a, b = counts(cpu, what, fields), counts(gpu, what, fields)
        if a != b:
            differing = [(x, y) for x, y in zip(a, b) if x != y] or [(len(a), len(b))]
            differences.append(f"{what}: {len(differing)} differ, first {differing[0]}")
    if not gpu["run"]["complete"] or gpu["run"]["dropped_records"]:
        errors.append("the GPU's profile is not complete")
    return {"sites": len(keys), "equal": equal, "errors": errors, "differences": differences}
