"""The report log of a query as rows: its batches, and the plans that they followed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from penstock.engine.expressions.arrow_types import TIMESTAMP
from penstock.engine.reports.entries import entry_json
from penstock.engine.reports.report import Report
from penstock.engine.results.kept_query import KeptQuery

REPORTS = pa.schema(
    [
        ("batch", pa.int64()),
        ("at", TIMESTAMP),
        ("seconds", pa.float64()),
        ("read", pa.int64()),
        ("late", pa.int64()),
        ("malformed", pa.int64()),
        ("shed", pa.int64()),
        ("results", pa.int64()),
        ("total_results", pa.int64()),
        ("state_tuples", pa.int64()),
        ("frontier", TIMESTAMP),
        ("delay", pa.float64()),
        ("busy", pa.float64()),
        ("cpu", pa.float64()),
        ("plan", pa.string()),
        ("report", pa.string()),
    ]
)
"""The columns of reports; what is counted by stream there is summed, and `report` has it all."""

PLANS = pa.schema(
    [
        ("batch", pa.int64()),
        ("at", TIMESTAMP),
        ("plan", pa.string()),
        ("reason", pa.string()),
        ("utilization", pa.float64()),
        ("output_rate", pa.float64()),
        ("state", pa.float64()),
        ("delay", pa.float64()),
    ]
)
"""The columns of plans: from which batch on each was followed, why, and what it promised."""

_DECISIONS = ("switch", "take-back", "order", "shed", "query")


def last_batch(query: KeptQuery) -> int:
    """The number of the last batch that was reported; −1 before the first."""
    return next((report.batch for report in query.reports(1)), -1)


def report_rows(query: KeptQuery, after: int, upto: int) -> Iterator[pa.RecordBatch]:
    """The reports of some batches, as far as the log has them."""
    rows = [_report(report) for report in query.reports()]
    yield _batch(rows, REPORTS, after, upto)


def plan_rows(query: KeptQuery, after: int, upto: int) -> Iterator[pa.RecordBatch]:
    """The plans that were new in some batches, as far as the log has them."""
    yield _batch(list(_plans(query.reports())), PLANS, after, upto)


def _batch(rows: list[dict[str, Any]], schema: pa.Schema, after: int, upto: int) -> pa.RecordBatch:
    wanted = [row for row in rows if after < row["batch"] <= upto]
    return pa.RecordBatch.from_pylist(wanted, schema=schema)


def _report(report: Report) -> dict[str, Any]:
    plain = {field.name: getattr(report, field.name, None) for field in REPORTS}
    counted = {
        name: sum(each.values()) for name, each in plain.items() if isinstance(each, Mapping)
    }
    times = {"at": _moment(report.at), "frontier": report.frontier}
    return plain | counted | times | {"report": json.dumps(entry_json(report))}


def _plans(reports: Iterable[Report]) -> Iterator[dict[str, Any]]:
    before: Report | None = None
    for report in reports:
        if before is None or before.plan != report.plan:
            promised = report.prediction
            figures = {} if promised is None else vars(promised)
            yield {
                "batch": report.batch,
                "at": _moment(report.at),
                "plan": report.plan,
                "reason": _why(before, report),
                **{field.name: figures.get(field.name) for field in list(PLANS)[4:]},
            }
        before = report


def _why(before: Report | None, report: Report) -> str:
    """What was decided after the batch before, or ordered since."""
    changes = (*(before.changes if before else ()), *report.changes)
    said = [each.reason for each in changes if each.kind in _DECISIONS]
    return "; ".join(said) or "the query began with it"


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
