"""The standing of a query as text: what runs, its last batch, measured beside expected."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

from penstock.cli.control.status_tables import tables
from penstock.duration import MICROS
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import STOPPED, RunHead
from penstock.engine.reports.standing import Decided, Standing
from penstock.engine.rows.event_time import moment
from penstock.plan.explain.quantity import bytes_text, count, figure, percent, seconds
from penstock.watch.log_view import LogView, log_of
from penstock.watch.verdict import busy_share, pace


def status_text(standing: Standing, now: float) -> str:
    """What there is to say, at a time in seconds since the epoch; what is not known is left out."""
    blocks = ["\n".join(_facts([*_run(standing), *_batch(log_of(standing), now)]))]
    if standing.last is None:
        blocks.append(_nothing(standing))
    plan = [*_plan(standing.last), *_pinned(standing)]
    if plan:
        blocks.append("\n".join(_facts(plan)))
    if standing.decisions:
        blocks.append("\n".join(["last decisions", *map(_decision, standing.decisions)]))
    if standing.last is not None:
        blocks += ["\n".join(lines) for lines in tables(standing.last)]
    return "\n\n".join(blocks) + "\n"


def _facts(facts: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in facts)
    return [f"{name.ljust(width)}  {said}" for name, said in facts]


def _run(standing: Standing) -> list[tuple[str, str]]:
    head = standing.head
    facts = [("checkpoint", str(standing.checkpoint)), ("run", _runs(standing, head))]
    if head is None:
        return facts
    pace = (
        "reads all there is"
        if head.available_now
        else f"looks for data every {seconds(head.trigger)}"
    )
    parts = f"{head.partitions} partition{'' if head.partitions == 1 else 's'}"
    return [*facts, ("", f"{pace}, into {head.sink}, {parts}")]


def _runs(standing: Standing, head: RunHead | None) -> str:
    if head is None:
        return "it runs" if standing.is_running else "does not run"
    where = f"on {head.engine}, process {head.process} on {head.host}"
    began = moment(round(head.started_at) * MICROS)
    if standing.is_running:
        return f"runs {where}, since {began}"
    if head.ended_at is None:
        return f"does not run: it was killed ({where}, begun {began})"
    ended, told = moment(round(head.ended_at) * MICROS), f"({where}, begun {began})"
    if head.error == STOPPED:
        return f"does not run: {STOPPED} {ended} {told}"
    failed = f" by an error: {head.error}" if head.error else ""
    return f"does not run: ended {ended}{failed} {told}"


def _nothing(standing: Standing) -> str:
    if standing.is_running:
        return "no batch yet"
    if standing.head is not None:
        return "it ended before its first batch"
    return "there are no reports in it\nhint: run the query on it, and it will have some"


def _batch(log: LogView, now: float) -> Iterator[tuple[str, str]]:
    last = log.last
    if last is None:
        return
    ago = f", {seconds(max(0.0, now - last.at))} ago" if last.at else ""
    cpu = f", {seconds(last.cpu)} of CPU" if last.cpu else ""
    yield "batch", f"{last.batch}{ago}, took {seconds(last.seconds)}{cpu}"
    yield "results", f"{count(last.results)} in the batch, {count(last.total_results)} in all"
    if last.waiting is not None:
        yield "", f"none in it: {last.waiting.reason}"
    if last.frontier is not None:
        lag = f", lag {seconds((last.lag or 0) / MICROS)}"
        yield "frontier", f"{moment(last.frontier)}{lag}"
    if last.delay is not None:
        yield "delay", f"{seconds(last.delay)}{_expected_delay(last)}"
    if last.backlog:
        waits = {name: count for name, count in last.backlog.items() if count}
        yield "backlog", ", ".join(f"{n} {count(c)} to read" for n, c in waits.items()) or "none"
    busy = busy_share(log)
    if busy is not None:
        said = pace(log)
        yield "busy", percent(busy) + (f": it {said}" if said else "")
    yield "state", _state(last)


def _state(last: Report) -> str:
    size = sum(module.bytes for module in last.modules.values())
    held = f", {bytes_text(size)}" if last.modules else ""
    wanted = "" if last.prediction is None else f" (expected {figure(last.prediction.state)})"
    return f"{count(last.state_tuples)} tuples{held}{wanted}"


def _expected_delay(last: Report) -> str:
    found = None if last.prediction is None else last.prediction.delay
    return "" if found is None else f" (expected {seconds(found)})"


def _pinned(standing: Standing) -> Iterator[tuple[str, str]]:
    if standing.pinned is not None:
        yield "pinned", f"{standing.pinned}, until penstock replan … on"


def _plan(last: Report | None) -> list[tuple[str, str]]:
    if last is None or not last.plan:
        return []
    facts = [("plan", last.plan)]
    if last.prediction is not None:
        wanted = last.prediction
        work = f"{figure(wanted.utilization)} s/s of work"
        facts.append(("expected", f"{work}, {figure(wanted.output_rate)} results/s"))
    if last.span and last.cpu:
        work = f"{figure(last.cpu / last.span)} s/s of work"
        facts.append(("measured", f"{work}, {figure(last.results / last.span)} results/s"))
    return facts


def _decision(decided: Decided) -> str:
    change = decided.change
    where = "" if decided.batch is None else f"batch {decided.batch} "
    when = f"{moment(round(decided.at) * MICROS)} " if decided.at else ""
    said = [f"  {when}{where}{change.kind}: {indent(change.reason, '    ').strip()}"]
    figures = [
        f"{word} {percent(part)} of the work"
        for word, part in (("promised to save", change.promise), ("saved", change.outcome))
        if part is not None
    ]
    said += [f"    plan {change.plan}"] if change.plan else []
    said += [f"    {', '.join(figures)}"] if figures else []
    return "\n".join(said)
