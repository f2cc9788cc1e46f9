"""Checksums of files."""

import contextlib
import hashlib
import json
import os
import time

#: From this size on, an input's checksum is kept in the store, so that a run that goes on need not read a trace of gigabytes again.
KEPT_FROM = 64 << 20
#: A file that was changed so short a time ago may change again within one tick of its clock.
_SETTLED_SECONDS = 2


class Changed(Exception):
    """The file was written to while it was read."""


def digest_of_file(path):
    """SHA-256 and size of a file."""
    digest, state = _read(path)
    return digest, state[2]


def state_of(path):
    """What changes when a file is replaced or written to."""
    return _state(os.stat(path))


def digest_of_input(path, store):
    """SHA-256 and state of an input, from the store where it was kept for the very same file."""
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
        # Whoever cannot keep it reads the file again.
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
