"""The standing of a query as JSON: versioned, fields are added and never changed."""

from __future__ import annotations

from typing import Any

from penstock.engine.reports.entries import entry_json
from penstock.engine.reports.json_fields import as_json
from penstock.engine.reports.standing import Decided, Standing
from penstock.errors import without_passwords
from penstock.watch.log_view import log_of
from penstock.watch.verdict import verdict

VERSION = 1


def status_json(standing: Standing) -> dict[str, Any]:
    """`is_running`, the `verdict` in words, the `run`, its `last` report as in the log, its last
    `changes`, and the plan that is `pinned`."""
    last = standing.last
    return {
        "version": VERSION,
        "checkpoint": str(standing.checkpoint),
        "is_running": standing.is_running,
        "verdict": verdict(log_of(standing)),
        "run": _run(standing),
        "last": None if last is None else entry_json(last),
        "changes": [_change(each) for each in standing.decisions],
        "pinned": standing.pinned,
    }


def _run(standing: Standing) -> dict[str, Any] | None:
    head = standing.head
    if head is None:
        return None
    made: dict[str, Any] = as_json(head)
    return made | {"query": without_passwords(head.query)}


def _change(decided: Decided) -> dict[str, Any]:
    return {"batch": decided.batch, "at": decided.at, **as_json(decided.change)}
