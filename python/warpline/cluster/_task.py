"""The work of a worker: it runs one command of ``warpline`` on files, and adds the result to the store."""

import functools
import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .._binaries import find
from .._errors import WarplineError
from ._digests import Changed, digest_of_file, digest_of_input, state_of
from ._errors import ClusterError
from ._packed import pack
from ._store import MARK, Store, key_of

#: The maximum number of characters of a program's output that are kept.
_SAID = 32_000


@dataclass(frozen=True)
class Site:
    """The values that all tasks of a call share."""

    store: str
    store_id: str
    program: str
    package: str


@dataclass(frozen=True)
class Input:
    """A file that a command reads: its name in the command, its path, and its checksum if it is known."""

    name: str
    path: str
    sha256: str = ""


@dataclass(frozen=True)
class Command:
    """A command of ``warpline``, with names of inputs and of the output in its own folder, so that it depends only on
    their content."""

    arguments: tuple
    inputs: tuple
    output: str
    #: The exit codes after which there is a result.
    accepted: tuple = (0,)
    #: The folder that the program creates, if the output is this folder in packed form.
    folder: str = ""

    @property
    def suffix(self):
        """Returns the suffix of the result's name."""
        return Path(self.output).suffix


class Refused(Exception):
    """The program refused one or all of the inputs."""

    def __init__(self, code, said):
        super().__init__(said)
        self.code, self.said = code, said


class Unreadable(Exception):
    """An input that does not exist, or that changes."""

    def __init__(self, path, why):
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


def site_of(store, package):
    """Returns the values that tasks need on their machine: this store and this machine's program."""
    return Site(str(store.folder), store.id, _program_digest(), package)


def perform(site, command):
    """Computes a result, or finds it in the store; returns its record, and whether it already existed."""
    store = ready(site)
    states = {}
    inputs = []
    for one in command.inputs:
        digest = one.sha256
        if not digest:
            digest, states[one.path] = _digest(one.path, store)
        inputs.append((one.name, digest))
    key = key_of(program=site.program, command=command.arguments, inputs=inputs)
    found = store.lookup(key, command.suffix)
    if found:
        return found, True
    with store.scratch() as folder:
        for one in command.inputs:
            (folder / one.name).parent.mkdir(exist_ok=True)
            (folder / one.name).symlink_to(one.path)
        code, said, cpu, seconds = _run(command, folder)
        for path, state in states.items():
            if _state(path) != state:
                raise Unreadable(path, "it was changed while it was being read; run the same call again")
        made = folder / command.output
        if command.folder and code in command.accepted:
            pack(folder / command.folder, made)
        if code not in command.accepted or not made.is_file():
            raise Refused(code, said)
        facts = {
            "command": list(command.arguments),
            "inputs": [list(one) for one in inputs],
            "program": site.program,
            "exit_code": code,
            "said": said,
            "seconds": round(seconds, 6),
            "cpu_seconds": round(cpu, 6),
            "host": socket.gethostname(),
        }
        return store.commit(key, made, command.suffix, facts), False


def place_of(site, key, suffix):
    """Returns the path of a result's file."""
    return str(Path(site.store, "results", key[:2], key + suffix))


@functools.lru_cache(maxsize=8)
def ready(site):
    """Returns the store, after checking that this process has the same store and program as the caller."""
    here = socket.gethostname()
    from .. import __version__

    if __version__ != site.package:
        raise ClusterError(f"the worker on {here} has warpline {__version__} and the caller {site.package}: install the same package")
    try:
        program = _program_digest()
    except WarplineError as missing:
        raise ClusterError(f"the worker on {here}: {missing}") from missing
    if program != site.program:
        raise ClusterError(f"the worker on {here} has another build of warpline ({find('warpline')}) than the caller: install the same")
    if not Path(site.store, MARK).is_file():
        raise ClusterError(f"{site.store}: the store is not there on {here}; all workers have to see it under this name (shared storage)")
    store = Store(site.store)
    if store.id != site.store_id:
        raise ClusterError(f"{site.store}: on {here} this is another folder than the caller's; all workers have to see one (shared storage)")
    return store


def _program_digest():
    path = find("warpline")
    return _digest_of_program(str(path), tuple(state_of(path)))


@functools.lru_cache(maxsize=4)
def _digest_of_program(path, _state):
    return digest_of_file(path)[0]


def _digest(path, store):
    try:
        return digest_of_input(path, store)
    except Changed:
        raise Unreadable(path, "it was changed while it was being read; run the same call again") from None
    except OSError as error:
        raise Unreadable(path, f"{error.strerror or error} on {socket.gethostname()} (workers read inputs by their paths)") from error


def _state(path):
    try:
        return state_of(path)
    except OSError:
        return None


def _run(command, folder):
    """Runs the program in a folder; returns its exit code, its output, the processor time in seconds, and the elapsed
    seconds."""
    program = find("warpline")
    # The program gets no variables of the caller's environment except the path to the program, which is called by its
    # name alone: a result must not depend on the machine.
    environment = {"PATH": f"{program.parent}{os.pathsep}{os.defpath}", "LANG": "C.UTF-8"}
    environment |= {name: os.environ[name] for name in ("HOME", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
    began = time.perf_counter()
    process = subprocess.Popen(
        [*_dying_with_us(), "warpline", *command.arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with process.stderr:
        said = process.stderr.read()
    # The process is awaited here, because this call returns its own processor time.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    text = said[-4 * _SAID :].decode(errors="replace").strip()[-_SAID:]
    return process.returncode, text, usage.ru_utime + usage.ru_stime, time.perf_counter() - began


@functools.lru_cache(maxsize=1)
def _dying_with_us():
    """Returns options that make the program end with the worker's thread that started it, if the system supports this.
    A killed worker then leaves no running program."""
    tool = shutil.which("setpriv", path=os.defpath)
    words = [tool, "--pdeathsig", "KILL", "--"] if tool else []
    if words and subprocess.run([*words, "true"], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0:
        return words
    return []
