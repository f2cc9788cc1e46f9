"""Checksums of files."""

import contextlib
import hashlib
import json
import os
import time

#: From this size on, an input's checksum is stored, so that a continued run need not read a trace of gigabytes again.
KEPT_FROM = 64 << 20
#: A file that was changed less than this time ago may change again within one tick of the file system's clock.
_SETTLED_SECONDS = 2


class Changed(Exception):
    """The file was changed while it was read."""


def digest_of_file(path):
    """Returns the SHA-256 and the size of a file."""
    digest, state = _read(path)
    return digest, state[2]


def state_of(path):
    """Returns a value that changes when a file is replaced or changed."""
    return _state(os.stat(path))


def digest_of_input(path, store):
    """Returns the SHA-256 and the state of an input, from the store if it was stored for this state of the file."""
    state = state_of(path)
    if state[2] < KEPT_FROM:
        return _read(path)
    name = hashlib.sha256(json.dumps([str(path), *state[1:]]).encode()).hexdigest()
    kept = store.folder / "digests" / name[:2] / name
    with contextlib.suppress(OSError, ValueError):
        digest, check = kept.read_text().split()
        if check == hashlib.sha256(f"{name}{digest}".encode()).hexdigest():
            return digest, state
    digest, state = _read(path)
    if time.time() - state[3] / 1e9 > _SETTLED_SECONDS:
        # If the checksum cannot be stored, the file is read again next time.
        with contextlib.suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            partial = kept.with_name(f"{name}.{os.getpid()}")
            partial.write_text(f"{digest} {hashlib.sha256(f'{name}{digest}'.encode()).hexdigest()}\n")
            partial.replace(kept)
    return digest, state


def _state(stat):
    return [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def _read(path):
    with open(path, "rb") as file:
        before = _state(os.fstat(file.fileno()))
        sum_ = hashlib.sha256()
        while block := file.read(1 << 20):
            sum_.update(block)
        if _state(os.fstat(file.fileno())) != before:
            raise Changed
    return sum_.hexdigest(), before
