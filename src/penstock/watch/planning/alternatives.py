"""The view Alternatives: the best plans by the figures of now, and what a switch would bring."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.adapt.figures.sizes import window_rows
from penstock.adapt.planning.weighing import Candidate, Question, weigh
from penstock.errors import PenstockError
from penstock.plan.text.parse import forced_plan
from penstock.plan.text.shape import kind_of
from penstock.watch.log_view import LogView
from penstock.watch.planning.asked import asked_of, measured_work

SHOWN = 10


@dataclass(frozen=True)
class PlanLine:
    """A plan. Work is CPU-seconds for a second of event time, as batches have taken them."""

    plan: str
    kind: str
    work: float
    is_running: bool
    saves: float | None
    """The part of the running plan's work that it would save; below 0 it takes more."""

    rebuild: float
    """Seconds for state that must be rebuilt."""

    fill: float
    """Seconds of event time until that is there, if it fills itself."""

    pays_after: float | None
    """Seconds of event time after which a switch has paid; None if it never does."""


@dataclass(frozen=True)
class Alternatives:
    """The plans, from best to worst, the running one among them."""

    batch: int | None = None
    measured_work: float | None = None
    """CPU-seconds for a second of event time, in the median of the last batches."""

    plans: tuple[PlanLine, ...] = ()
    missing: str | None = None
    """Why there are none."""


def alternatives_view(log: LogView, functions: str | None = None) -> Alternatives:
    """The view of a log: its plans weighed as a run that plans again weighs them."""
    last = log.last
    if last is None:
        return Alternatives(missing="no batch yet")
    try:
        asked = asked_of(log, functions)
        running = forced_plan(asked.query, last.plan)
        weighed = weigh(Question(lambda: asked.known, asked.options, running, window_rows(last)))
    except PenstockError as error:
        return Alternatives(last.batch, missing=error.message)
    mine = weighed.running
    others = [each for each in weighed.others if each.identity != mine.identity]
    lines = [_line(each, mine) for each in (mine, *others)]
    ranked = sorted(lines, key=lambda line: line.work)
    kept = [line for place, line in enumerate(ranked) if place < SHOWN or line.is_running]
    return Alternatives(last.batch, measured_work(log), tuple(kept))


def _line(each: Candidate, running: Candidate) -> PlanLine:
    saved = running.work - each.work
    is_running = each is running
    pays = each.rebuild / saved + each.fill if saved > 0.0 and not is_running else None
    return PlanLine(
        plan=each.text,
        kind=kind_of(each.plan),
        work=each.work,
        is_running=is_running,
        saves=None if is_running or running.work <= 0.0 else saved / running.work,
        rebuild=each.rebuild,
        fill=each.fill,
        pays_after=pays,
    )
