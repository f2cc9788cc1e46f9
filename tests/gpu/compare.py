#!/usr/bin/env python3
"""Compares two profiles (JSON) of one program: on the CPU device and on a GPU.

Lanes and bytes of a site must be equal for a program whose control flow does not depend on races. Requests, sectors,
piece distributions, block and branch counts must be equal wherever the GPU runs a warp's lanes together, which
it need not do in unstructured control flow: such differences are listed, and fail only with --strict.
"""
import json
import sys


def sites(profile):
    found = {}
    for site in profile["sites"]:
        key = (site["file"].rsplit("/", 1)[-1], site["line"], site["column"], site["op"], site["space"], site["kernel"],
               site["id"])
        found[key] = site["metrics"]
    return found


def counts(profile, what, fields):
    return [tuple(str(entry[field]) for field in fields) for entry in profile[what]]


def load(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"  no profile in {path}: {error}")


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    strict = "--strict" in sys.argv
    cpu, gpu = (load(path) for path in arguments)
    errors, differences = [], []
    ours, theirs = sites(cpu), sites(gpu)
    # Texture fetches are counted on the CPU device only.
    hidden = {(entry["file"].rsplit("/", 1)[-1], entry["line"]) for entry in gpu["not_seen"]
              if entry["what"].startswith("on a GPU: ")}
    for key in sorted(set(ours) | set(theirs)):
        a, b = ours.get(key), theirs.get(key)
        if b is None and key[:2] in hidden:
            continue
        if a is None or b is None:
            errors.append(f"{key}: only on the {'GPU' if a is None else 'CPU device'}")
            continue
        for field in ("lanes", "bytes"):
            if a[field] != b[field]:
                errors.append(f"{key}: {field} {a[field]} on the CPU device, {b[field]} on the GPU")
        for field in ("requests", "sectors", "ideal_sectors", "lines_touched"):
            if a.get(field) != b.get(field):
                differences.append(f"{key}: {field} {a.get(field)} on the CPU device, {b.get(field)} on the GPU")
    for what, fields in (("branches", ("file", "line", "executions", "divergent", "lanes")),
                         ("blocks", ("file", "line", "executions", "lanes", "partial"))):
        a, b = counts(cpu, what, fields), counts(gpu, what, fields)
        if a != b:
            differing = [(x, y) for x, y in zip(a, b) if x != y] or [(len(a), len(b))]
            differences.append(f"{what}: {len(differing)} differ, first {differing[0]}")
    if not gpu["run"]["complete"] or gpu["run"]["dropped_records"]:
        errors.append("the GPU's profile is not complete")
    for line in errors:
        print("  ERROR", line)
    for line in differences[:20]:
        print("  differs:", line)
    print(f"  {len(ours)} sites, {len(errors)} errors, {len(differences)} differences")
    return 1 if errors or (strict and differences) else 0


sys.exit(main())
