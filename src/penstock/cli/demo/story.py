"""What happened in a run, by the reports of its batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.cli.demo.batch_table import newest_second
from penstock.engine.reports.report import Report


@dataclass(frozen=True)
class Switch:
    """Another plan was followed from some second on; parts of the work that it should save, and
    did."""

    second: float
    plan: str
    promise: float | None
    outcome: float | None


@dataclass(frozen=True)
class Shedding:
    """Tuples were shed between two seconds of event time.

    `least` is the smallest fraction that was kept of each stream, `delay` the most seconds by which
    results were behind their data meanwhile.
    """

    first: float
    last: float
    least: dict[str, float]
    delay: float
    is_over: bool
    """Whether batches came after it that kept all."""


@dataclass(frozen=True)
class Story:
    """The run as a whole."""

    batches: int
    seconds: float
    """Event time that was read."""

    clock: float
    """Seconds from the begin of the first batch to the end of the last."""

    tuples: int
    shed: int
    results: int
    state: int
    """Rows in the state, at the most."""

    delay: float | None
    """Seconds by which the last results were behind their data."""

    switches: tuple[Switch, ...]
    sheddings: tuple[Shedding, ...]


def story_of(reports: Sequence[Report]) -> Story:
    """What the reports of a run tell; there is at least one."""
    first, last = reports[0], reports[-1]
    return Story(
        batches=len(reports),
        seconds=newest_second(last),
        clock=last.at - first.at + first.seconds,
        tuples=sum(sum(report.read.values()) for report in reports),
        shed=sum(last.total_shed.values()),
        results=last.total_results,
        state=max(report.state_tuples for report in reports),
        delay=last.delay,
        switches=tuple(_switches(reports)),
        sheddings=tuple(_sheddings(reports)),
    )


def _switches(reports: Sequence[Report]) -> list[Switch]:
    """The changes of the plan, each with what came of it, if that was told before the next one."""
    found: list[Switch] = []
    for report in reports:
        for change in report.changes:
            if change.kind in ("switch", "take-back") and change.plan is not None:
                found.append(Switch(newest_second(report), change.plan, change.promise, None))
            elif change.kind == "outcome" and found:
                last = found.pop()
                found.append(Switch(last.second, last.plan, last.promise, change.outcome))
    return found


def _sheddings(reports: Sequence[Report]) -> list[Shedding]:
    """The stretches of batches that shed something."""
    found: list[list[Report]] = []
    is_shedding = False
    for report in reports:
        sheds = any(each.shed for each in report.inputs.values())
        if sheds and not is_shedding:
            found.append([])
        if sheds:
            found[-1].append(report)
        is_shedding = sheds
    return [_shedding(batches, is_over=batches[-1] is not reports[-1]) for batches in found]


def _shedding(batches: Sequence[Report], *, is_over: bool) -> Shedding:
    kept = [
        {alias: 1.0 - each.shed / each.tuples for alias, each in r.inputs.items() if each.tuples}
        for r in batches
    ]
    aliases = list(dict.fromkeys(alias for each in kept for alias in each))
    least = {alias: min(each.get(alias, 1.0) for each in kept) for alias in aliases}
    return Shedding(
        first=newest_second(batches[0]) - (batches[0].span or 0.0),
        last=newest_second(batches[-1]),
        least={alias: share for alias, share in least.items() if share < 1.0},
        delay=max((r.delay for r in batches if r.delay is not None), default=0.0),
        is_over=is_over,
    )
