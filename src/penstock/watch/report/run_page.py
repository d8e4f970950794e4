"""The page of a run: what it did, its plan, curves, estimates and decisions."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import without_passwords
from penstock.plan.explain.pictures.style import STYLE
from penstock.plan.explain.quantity import bytes_text, count, figure, percent, seconds
from penstock.watch.charts.run_charts import run_charts
from penstock.watch.log_view import LogView
from penstock.watch.now import Now, now_view
from penstock.watch.plan_live import plan_view
from penstock.watch.report.curves import drawn
from penstock.watch.report.look import LOOK
from penstock.watch.report.markup import Markup, page, tag
from penstock.watch.report.plan_picture import plan_picture
from penstock.watch.report.run_tables import (
    decisions_table,
    estimates_table,
    plans_table,
    streams_table,
    when,
)


def run_page(log: LogView, now: float) -> str:
    """The whole page, written at a time in seconds since the epoch."""
    name = log.checkpoint.rstrip("/").rpartition("/")[2]
    return page(f"{name} · run", STYLE + LOOK, *_head(log, name, now), *_body(log))


def _head(log: LogView, name: str, now: float) -> Iterator[Markup]:
    head = log.head
    began = "" if head is None else f", begun {when(head.started_at)} on {head.engine}"
    yield tag(
        "header",
        tag("p", "A run of Penstock", class_="kind"),
        tag("h1", name),
        tag("p", f"{without_passwords(now_view(log).verdict)}{began}; as of {when(now)} (UTC)"),
    )
    if head is not None and head.query:
        yield tag("pre", without_passwords(head.query).strip())


def _body(log: LogView) -> Iterator[Markup]:
    if log.last is None:
        yield tag("p", "There are no reports of batches in its log.")
        return
    yield _tiles(log)
    if not log.queries:
        yield from _query(log)
    for name in log.queries:
        yield tag("h2", f"The query {name}")
        yield from _query(log.of_query(name))
    yield from _titled("Streams", streams_table(log))
    yield from _titled("Decisions", decisions_table(log))


def _query(log: LogView) -> Iterator[Markup]:
    """The plan, curves and estimates of one query."""
    graph = plan_view(log)
    yield from _titled("Plan", plan_picture(graph))
    if graph.plan:
        yield tag("pre", graph.plan)
        yield tag("p", f"It is {graph.standing}.")
    found = [figure for chart in run_charts(log) if (figure := drawn(chart)) is not None]
    yield from _titled("Curves, by batch", tag("div", *found, class_="curves") if found else None)
    yield from _titled("Estimated against measured", estimates_table(log))
    yield from _titled("Plans that were followed", plans_table(log))


def _titled(title: str, content: Markup | None) -> Iterator[Markup]:
    if content is not None:
        yield tag("h2", title)
        yield content


def _tiles(log: LogView) -> Markup:
    """The sums of the run, as far as its log goes back."""
    now, last = now_view(log), log.last
    assert last is not None, "there is a batch"
    read = sum(sum(report.read.values()) for report in log.reports)
    late = sum(sum(report.late.values()) for report in log.reports)
    shed = sum(last.total_shed.values())
    wall = sum(report.seconds for report in log.reports)
    size = sum(module.bytes for module in last.modules.values())
    first = log.reports[0].batch
    tiles = (
        ("results", count(now.total_results), "in all"),
        ("rows read", count(read), f"{count(late)} late, {count(shed)} shed"),
        ("batches", count(len(log.reports)), f"{first} to {last.batch}, {seconds(wall)}"),
        ("state", f"{count(last.state_tuples)} rows", bytes_text(size) if size else ""),
        *_load(now),
    )
    cells = (
        tag("div", tag("dt", name), tag("dd", value), tag("dd", more, class_="more"))
        for name, value, more in tiles
    )
    return tag("dl", *cells, class_="tiles")


def _load(now: Now) -> Iterator[tuple[str, str, str]]:
    if now.busy is not None:
        lag = "" if now.lag is None else f"lag {seconds(now.lag)}"
        yield "busy", percent(now.busy), lag
    if now.work is not None:
        wanted = "" if now.predicted_work is None else f"expected {figure(now.predicted_work)}"
        yield "work", f"{figure(now.work)} s/s", wanted
