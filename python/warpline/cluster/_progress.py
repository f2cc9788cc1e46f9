"""The progress of tasks on a terminal: one line, and the address of Dask's dashboard."""

import logging
import sys
import time

log = logging.getLogger("warpline.cluster")
_REDRAW_SECONDS = 0.1
_BAR = 24


class Progress:
    """The progress of a graph with ``total`` tasks. It is shown if ``enabled``; by default, if standard error is a
    terminal."""

    def __init__(self, what, total, enabled=None):
        self._what, self._total = what, total
        self._shown = sys.stderr.isatty() if enabled is None else enabled
        self._finished = self._reused = self._failed = self._threads = 0
        self._began, self._drawn, self._idle = time.monotonic(), 0.0, False

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self._draw()
        if self._shown:
            sys.stderr.write("\n")

    def connected(self, client):
        """Prints the address of the dashboard."""
        try:
            import bokeh as _
        except ImportError:
            log.info("scheduler %s (its dashboard needs bokeh: pip install bokeh)", client.scheduler.address)
        else:
            log.info("scheduler %s, dashboard %s", client.scheduler.address, client.dashboard_link)

    def workers(self, threads):
        """Counts the workers; prints a message, once, if there are none."""
        if not threads and not self._idle:
            log.warning("the scheduler has no workers yet; waiting for some")
        self._idle = not threads
        self._threads = threads

    def finished(self, outcome):
        """Counts a finished task."""
        self._finished += 1
        self._reused += outcome.reused
        self._failed += len(outcome.failed)

    def tick(self):
        """Updates the line, if enough time has passed."""
        if time.monotonic() - self._drawn > _REDRAW_SECONDS:
            self._draw()

    def _draw(self):
        self._drawn = time.monotonic()
        if not self._shown:
            return
        full = _BAR * self._finished // self._total if self._total else _BAR
        seconds = int(self._drawn - self._began)
        parts = [f"{self._what} [{'#' * full}{'.' * (_BAR - full)}] {self._finished}/{self._total}"]
        parts += [f"{self._reused} from the store"] if self._reused else []
        parts += [f"{self._failed} failed"] if self._failed else []
        parts += [f"{self._threads} at work", f"{seconds // 60}:{seconds % 60:02}"]
        sys.stderr.write(f"\r\x1b[K{', '.join(parts)}")
        sys.stderr.flush()
