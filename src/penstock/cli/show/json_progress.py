"""Progress of a run as JSON: an object for each batch and decision, and one at the end."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from penstock.cli.show.voice import Level, tell_json
from penstock.engine.reports.entries import entry_json
from penstock.engine.reports.report import Report

FIELDS = (
    *("batch", "seconds", "read", "late", "malformed", "unreadable", "shed", "results"),
    *("total_results", "state_tuples", "frontier", "lag", "busy", "delay", "backlog", "plan"),
)
"""What is told of a batch, as the report log has it."""
_BAD = ("behind",)
"""Decisions that somebody should look at."""


class JsonProgress:
    """Tells each batch as it ends, and the sums when all is over."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._read = self._results = self._batches = 0
        self._is_waiting = False
        self.last: Report | None = None

    def __enter__(self) -> JsonProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        if kind is None or kind is KeyboardInterrupt:
            seconds = time.monotonic() - self._started
            sums = {"batches": self._batches, "read": self._read, "results": self._results}
            tell_json("info", "end", **sums, seconds=seconds)

    def __call__(self, report: Report) -> None:
        """Tell a batch, and what was decided in it."""
        self.last = report
        self._batches += 1
        self._read += sum(report.read.values())
        self._results += report.results
        told: dict[str, Any] = entry_json(report)
        tell_json("info", "batch", **{name: told[name] for name in FIELDS})
        for change in told["changes"]:
            level: Level = "warning" if change["kind"] in _BAD else "info"
            tell_json(level, "decision", batch=report.batch, **change)
        for name, member in told["members"].items():
            for change in member["changes"]:
                tell_json("info", "decision", batch=report.batch, query=name, **change)
        self._wait(report)

    def _wait(self, report: Report) -> None:
        """Say once why no results come, until some do."""
        if report.waiting is not None and not self._is_waiting:
            waiting = {"reason": report.waiting.reason, "hint": report.waiting.hint}
            tell_json("warning", "waiting", batch=report.batch, **waiting)
        self._is_waiting = report.waiting is not None
