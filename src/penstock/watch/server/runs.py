"""The checkpoints that a dashboard shows, each read by one thread at a time."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from penstock.errors import UsageError
from penstock.watch.log_reader import LogReader
from penstock.watch.log_view import LogView
from penstock.watch.verdict import verdict


class Watched:
    """One checkpoint, by its number on the page."""

    def __init__(self, checkpoint: str):
        self._reader = LogReader(checkpoint)
        self._reading = Lock()
        self.store = self._reader.store

    def log(self) -> LogView:
        """Its log as it is now."""
        with self._reading:
            return self._reader.read()

    def of_query(self, query: str | None) -> LogView:
        """The log of all of a script together, or of one of its queries."""
        log = self.log()
        if query is None:
            return log
        if query not in log.queries:
            names = ", ".join(log.queries) or "none: it is a single query"
            raise UsageError(f"there is no query {query}", hint=f"its queries are {names}")
        return log.of_query(query)


class Runs:
    """All of them."""

    def __init__(self, checkpoints: Sequence[str]):
        self._watched = [Watched(each) for each in checkpoints]

    def run(self, number: str) -> Watched:
        """The one of a number, as text; an error if there is none."""
        if not number.isdecimal() or int(number) >= len(self._watched):
            last = len(self._watched) - 1
            raise UsageError(f"there is no run {number}", hint=f"runs are 0 to {last}")
        return self._watched[int(number)]

    def listed(self) -> list[dict[str, object]]:
        """What the page lists: each with its number, whether it runs, and how it stands."""
        return [_line(number, each.log()) for number, each in enumerate(self._watched)]


def _line(number: int, log: LogView) -> dict[str, object]:
    return {
        "run": number,
        "checkpoint": log.checkpoint,
        "is_running": log.is_running,
        "verdict": verdict(log),
        "queries": list(log.queries),
        "engine": None if log.head is None else log.head.engine,
        "sink": None if log.head is None else log.head.sink,
        "pinned": log.pinned,
    }
