"""Packs a folder into one file, whose bytes depend only on the folder's content, and unpacks it."""

import hashlib
import tarfile
from pathlib import Path, PurePosixPath

from ._digests import digest_of_file
from ._errors import ClusterError
from ._store import replace_file


def pack(folder, file):
    """Writes all files below a folder to one file (`tar`), in the order of their names and without times and owners."""
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as packed:
        for path in sorted(one for one in Path(folder).rglob("*") if one.is_file()):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size = path.stat().st_size
            with open(path, "rb") as content:
                packed.addfile(entry, content)


def place(file, folder):
    """Copies the files of a packed folder to another folder. Each file appears only when it is complete, and an
    existing file with the same content is not changed."""
    with tarfile.open(file) as packed:
        for entry in packed:
            name = PurePosixPath(entry.name)
            if not entry.isreg() or name.is_absolute() or ".." in name.parts:
                raise ClusterError(f"{file}: {entry.name!r} is no file of a dataset")
            target = Path(folder, *name.parts)
            content = packed.extractfile(entry).read()
            if _same(target, content):
                continue
            replace_file(target, content)


def _same(target, content):
    try:
        return digest_of_file(target) == (hashlib.sha256(content).hexdigest(), len(content))
    except OSError:
        return False
