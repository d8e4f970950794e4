"""The log of a checkpoint as views take it: what runs, its batches and its decisions so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.engine.reports.entries import Answer, Entry
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead, is_running, read_head
from penstock.engine.reports.standing import Decided, Standing
from penstock.engine.state.pin import read_pin
from penstock.engine.state.store import Store

MOST = 2000
"""Batches that are looked back on: half an hour at a batch a second."""
HISTORY = 120
"""Batches whose course a page shows: as many points as there is room for."""


@dataclass(frozen=True)
class LogView:
    """A checkpoint's log. Reports and decisions are the oldest first."""

    checkpoint: str
    is_running: bool = False
    head: RunHead | None = None
    reports: tuple[Report, ...] = ()
    decisions: tuple[Decided, ...] = ()
    pinned: str | None = None
    """The text of the plan that it was ordered to follow."""

    query: str | None = None
    """The query of a script that reports are of; None for all of them, or for the only one."""

    @property
    def last(self) -> Report | None:
        """The report of the last batch; None before the first."""
        return self.reports[-1] if self.reports else None

    @property
    def recent(self) -> LogView:
        """The same with no more batches than a page shows the course of."""
        return replace(self, reports=self.reports[-HISTORY:])

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of a script's queries; of a single query there are none."""
        return () if self.last is None else tuple(self.last.members)

    def of_query(self, name: str) -> LogView:
        """The same of one query of a script; what is measured of all together stays as it is."""
        mine = tuple(_of_member(report, name) for report in self.reports if name in report.members)
        return replace(self, reports=mine, query=name)


def log_view(store: Store, entries: Iterable[Entry], now: float) -> LogView:
    """The view of a checkpoint whose log has these entries, the oldest first."""
    head, told = read_head(store), list(entries)
    return LogView(
        checkpoint=str(store.root),
        is_running=is_running(store, head, now),
        head=head,
        reports=final_reports(told)[-MOST:],
        decisions=decisions_in(told),
        pinned=read_pin(store),
    )


def log_of(standing: Standing) -> LogView:
    """The view of a query by its last batches alone."""
    last = () if standing.last is None else (standing.last,)
    return LogView(
        checkpoint=str(standing.checkpoint),
        is_running=standing.is_running,
        head=standing.head,
        reports=standing.recent or last,
        decisions=standing.decisions,
        pinned=standing.pinned,
    )


def final_reports(entries: Iterable[Entry]) -> tuple[Report, ...]:
    """The reports among entries; one that was run again takes the place of it and of later ones."""
    found: list[Report] = []
    for entry in entries:
        if isinstance(entry, Report):
            while found and found[-1].batch >= entry.batch:
                found.pop()
            found.append(entry)
    return tuple(found)


def decisions_in(entries: Iterable[Entry]) -> tuple[Decided, ...]:
    """The decisions among entries; answers to orders are told apart from batches."""
    found: list[Decided] = []
    for entry in entries:
        match entry:
            case Report(batch=batch, at=at, every_change=changes):
                made = [change for change in changes if change.kind != "order"]
                found += [Decided(batch, at, change) for change in made]
            case Answer(at=at, change=change):
                found.append(Decided(None, at, change))
    return tuple(found)


def _of_member(whole: Report, name: str) -> Report:
    """The report of a script's query, with what batches measure of all queries together."""
    mine = whole.members[name]
    return replace(
        mine,
        at=whole.at,
        seconds=whole.seconds,
        phases=whole.phases,
        busy=whole.busy,
        delay=whole.delay,
        backlog=whole.backlog,
        cpu=mine.cpu or whole.cpu,
    )
