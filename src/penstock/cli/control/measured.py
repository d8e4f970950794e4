"""Figures that a run has measured, out of the log in its checkpoint."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from penstock.errors import CheckpointError

if TYPE_CHECKING:
    from penstock.engine.reports.report import Report
    from penstock.engine.state.store import Store
    from penstock.query import Query
    from penstock.stats.statistics import Statistics


def measured(checkpoint: str, query: Query | None, functions: str | None) -> Statistics:
    """What runs on a checkpoint have measured; a CheckpointError if they told nothing.

    Without a query, it is that of the last run, with functions of a Python file if it calls some.
    """
    from penstock.engine.reports.reading import read_reports
    from penstock.engine.reports.standing import store_of
    from penstock.engine.state.checkpoint import refuse_other_query

    store = store_of(checkpoint)
    reports = [*read_reports(store.root)]
    if not reports:
        raise CheckpointError(
            f"there are no reports in {store.root}",
            hint="run the query on it, or let penstock analyze sample its sources",
        )
    if query is None:
        query = _query(store, functions)
    else:
        hint = "leave the file out: the figures are those of the checkpoint's own query"
        refuse_other_query(store, query, hint)
    last = next((report for report in reversed(reports) if report.stats), None)
    return _rates(query, reports) if last is None else _stats(query, last, store)


def _stats(query: Query, last: Report, store: Store) -> Statistics:
    from penstock.stats.files.measured import measured_statistics

    name = f"the figures of batch {last.batch} in {store.root}"
    return measured_statistics(query, last.stats, last.batch, name)


def _rates(query: Query, reports: list[Report]) -> Statistics:
    """Rates by what was read, of a run that measured nothing else."""
    from penstock.engine.reports.arrivals import arrivals
    from penstock.stats.files.measured import measured_rates

    found = arrivals(reports)
    if not found:
        raise CheckpointError(
            "no stream has moved on between two batches, so no rate is known",
            hint="let the query run for a while, or let penstock analyze sample its sources",
        )
    print("note: this run told only rates; other figures are left out", file=sys.stderr)
    return measured_rates(query, found, reports[-1].batch)


def _query(store: Store, functions: str | None) -> Query:
    """The query of the last run."""
    from penstock.api import ContinuousQuery, sql
    from penstock.engine.reports.run_head import read_head

    head = read_head(store)
    if head is None or not head.query:
        raise CheckpointError(
            f"{store.root} does not say of which query it is",
            hint="name the query's file too: penstock analyze FILE --from CHECKPOINT",
        )
    found: object = sql(head.query, functions=functions or (), file="the checkpoint's query")
    if not isinstance(found, ContinuousQuery):
        message = f"{store.root} is of a script of several queries"
        raise CheckpointError(message, hint="penstock status shows what was measured of each")
    return found.query
