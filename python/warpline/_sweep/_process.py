"""Runs work in a child process, of which this process keeps only the result."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import Any, Callable

from .._errors import WarplineError


def in_child(work: Callable[[], Any]) -> Any:
    """Returns the result of ``work()`` in a forked process, which has the state of this process and does not change it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    try:
        done, result = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError) as error:
        ended = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
        raise WarplineError(f"the process of the sweep ended early ({ended}): sweep fewer configurations to find the one") from error
    if not done:
        raise WarplineError(result)
    return result


def _answer(work: Callable[[], Any], writing: int) -> None:
    """Sends the result, or the error's text, and ends the process without the exit handlers of its parent."""
    try:
        answer = (True, work())
    except WarplineError as error:
        answer = (False, str(error))
    except BaseException:
        answer = (False, f"the sweep failed:\n{traceback.format_exc()}")
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(pickle.dumps(answer))
    sys.stderr.flush()
    os._exit(0)
