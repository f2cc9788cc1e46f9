#!/usr/bin/env python3
"""Writes NOTICE (a line for each part of a release) and LICENCES (their texts) to a folder.

`licences.py FOLDER`: reads `cargo metadata`, the licence files of the crates, and Debian's copyright files of LLVM and
the libraries that come with it."""

import json
import subprocess
import sys
from pathlib import Path

#: Programs whose dependencies are in a release.
PROGRAMS = ["warpline", "warpline-driver", "warpline-runtime"]

#: Parts that are no crates: what they are, their licence and the file with its text.
OTHERS = [
    ("LLVM and clang", "Apache-2.0 WITH LLVM-exception", "/usr/share/doc/libllvm{llvm}/copyright"),
    ("zlib", "Zlib", "/usr/share/doc/zlib1g/copyright"),
    ("Zstandard", "BSD-3-Clause", "/usr/share/doc/libzstd1/copyright"),
    ("Rust's standard library", "MIT OR Apache-2.0", None),
    ("pip (not linked; a file of its own)", "MIT", None),
]


def linked_crates(root):
    """The crates of other authors that the programs are linked with, without those that only build them or test them."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=x86_64-unknown-linux-gnu"]
    command += ["--features=warpline/parquet,warpline/mcp"]
    metadata = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [id for id, package in packages.items() if package["name"] in PROGRAMS]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if linked and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    others = [packages[id] for id in seen if packages[id]["source"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The licence files in the folder of a crate's manifest."""
    folder = Path(package["manifest_path"]).parent
    names = ("LICEN", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT")
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(names))
    return [path.read_text(errors="replace").strip() for path in files]


def main():
    root = Path(__file__).resolve().parents[2]
    target = Path(sys.argv[1])
    llvm = (root / "scripts/llvm-version").read_text().strip()
    crates = linked_crates(root)
    notice = ["Warpline: MIT OR Apache-2.0 (LICENSE-MIT, LICENSE-APACHE).", ""]
    notice += ["This release contains the following parts. The texts of their licences are in LICENCES.", ""]
    notice += ["NVIDIA's CUDA toolkit is not part of it; what `warpline setup` fetches is under NVIDIA's own licence.", ""]
    by_text = {}
    for name, licence, file in OTHERS:
        notice.append(f"{name}: {licence}")
        if file:
            path = Path(file.format(llvm=llvm))
            if not path.is_file():
                sys.exit(f"licences.py: {path}, the licence of {name}, is missing: build the release on Debian, with {path.parent.name} installed")
            by_text.setdefault(path.read_text(errors="replace").strip(), []).append(name)
    for package in crates:
        name = f"{package['name']} {package['version']}"
        notice.append(f"{name}: {package['license'] or 'see ' + str(package['license_file'])}")
        for text in texts(package):
            by_text.setdefault(text, []).append(name)
    (target / "NOTICE").write_text("\n".join(notice) + "\n")
    parts = [f"{', '.join(names)}\n{'=' * 80}\n\n{text}\n" for text, names in by_text.items()]
    (target / "LICENCES").write_text(("\n" + "-" * 80 + "\n\n").join(parts))


main()
