"""The store: a folder of results. The name of a result depends on its inputs, its command and its program.

::

    warpline-store.json      what this folder is, and which store it is
    results/ab/KEY.wlprof    a result, renamed to this name when it was complete
    results/ab/KEY.record    its record, written after it: without one, or with one that does not fit, there is no result
    digests/cd/…             checksums of large inputs, by name, size and times
    scratch/…                files of running tasks; of no value after the tasks have ended
"""

import contextlib
import hashlib
import json
import os
import shutil
import socket
import tempfile
import uuid
from pathlib import Path

from ._digests import digest_of_file
from ._errors import ClusterError, Misused

SCHEMA = "warpline.results"
VERSION = 1
MARK = "warpline-store.json"


def key_of(*, program, command, inputs):
    """Returns the name of the result of ``program`` (its checksum) for ``command`` and ``inputs`` (pairs of name and
    checksum)."""
    whole = {"schema": SCHEMA, "version": VERSION, "program": program, "command": list(command), "inputs": list(map(list, inputs))}
    return hashlib.sha256(_canonical(whole)).hexdigest()


class Store:
    """A folder of results, which is created if it does not exist. Any number of processes and machines may use it at
    the same time."""

    def __init__(self, folder):
        self.folder = Path(folder).expanduser().absolute()
        self.id = self._open()

    def _open(self):
        mark = self.folder / MARK
        try:
            if not mark.exists():
                self.folder.mkdir(parents=True, exist_ok=True)
                strange = sorted(one.name for one in self.folder.iterdir() if not one.name.endswith(".partial"))
                if strange and not mark.exists():
                    raise Misused(f"{self.folder}: this folder is no store and not empty ({strange[0]} is in it); name a new one")
                _write_once(mark, _canonical({"schema": SCHEMA, "version": VERSION, "id": uuid.uuid4().hex}))
            found = json.loads(mark.read_bytes())
        except OSError as error:
            raise ClusterError(f"{self.folder}: the store cannot be used: {error.strerror or error}") from error
        except ValueError as error:
            raise ClusterError(f"{mark}: damaged ({error}); name a new store") from error
        if not isinstance(found, dict) or found.get("schema") != SCHEMA or not isinstance(found.get("id"), str):
            raise ClusterError(f"{mark}: this is no store of results; name another folder")
        if found.get("version") != VERSION:
            raise ClusterError(f"{self.folder}: a store of version {found.get('version')}, and this package has {VERSION}; name a new one")
        return found["id"]

    def place(self, key, suffix):
        """Returns the path of the result for a key, whether it exists or not."""
        return self.folder / "results" / key[:2] / f"{key}{suffix}"

    def lookup(self, key, suffix):
        """Returns the record of a finished result whose file is intact, otherwise ``None``."""
        try:
            record = json.loads(self.place(key, ".record").read_bytes())
            if record.pop("check", None) != hashlib.sha256(_canonical(record)).hexdigest() or record["key"] != key:
                return None
            digest, size = digest_of_file(self.place(key, suffix))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return record if (digest, size) == (record["sha256"], record["bytes"]) else None

    def commit(self, key, made, suffix, facts):
        """Adds a complete file; returns its record.

        Nothing is flushed to the disk: a file that a power failure leaves incomplete does not match its checksum and is
        computed again."""
        digest, size = digest_of_file(made)
        place = self.place(key, suffix)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(made, place)
        record = {"schema": "warpline.result", "version": VERSION, "key": key, "sha256": digest, "bytes": size, **facts}
        checked = {**record, "check": hashlib.sha256(_canonical(record)).hexdigest()}
        replace_file(self.place(key, ".record"), _canonical(checked))
        return record

    @contextlib.contextmanager
    def scratch(self):
        """Returns a folder for one task, on the file system of the results."""
        above = self.folder / "scratch"
        above.mkdir(exist_ok=True)
        folder = tempfile.mkdtemp(prefix=f"{socket.gethostname()}.{os.getpid()}.", dir=above)
        try:
            yield Path(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self):
        """Removes the files that killed tasks of this machine have left."""
        here = f"{socket.gethostname()}."
        for folder in (self.folder / "scratch").glob("*"):
            process = folder.name[len(here) :].partition(".")[0] if folder.name.startswith(here) else ""
            if process.isdigit() and not Path("/proc", process).exists():
                shutil.rmtree(folder, ignore_errors=True)

    def keys(self):
        """The keys of all records, whether intact or not."""
        return sorted(one.stem for one in (self.folder / "results").glob("*/*.record"))


def replace_file(path, content):
    """Writes a file such that it is either complete or does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _partial(path) as partial:
        partial.write_bytes(content)
        partial.replace(path)


def copy_file(source, path):
    """Copies a file such that it is either complete or does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _partial(path) as partial:
        shutil.copyfile(source, partial)
        partial.replace(path)


def _write_once(path, content):
    """Writes a file; if several processes write it, the content of the first stays."""
    with _partial(path) as partial:
        partial.write_bytes(content)
        try:
            os.link(partial, path)
        except FileExistsError:
            pass
        except OSError:
            # The file system does not support links.
            partial.replace(path)


@contextlib.contextmanager
def _partial(path):
    """Returns a unique name in the folder of a file; the file with this name is removed afterwards."""
    partial = path.with_name(f".{uuid.uuid4().hex}.partial")
    try:
        yield partial
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
