"""Wall seconds of a run by phase, from the start of its process to its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.cli.profiling.watched import Watched

STARTING = "Python, planning"
STARTING_SPARK = "starting Spark"
BEFORE = "before the first batch"
BETWEEN = "between batches"
ENDING = "ending"


@dataclass(frozen=True)
class Phase:
    """Seconds of a phase; those of batches in the first batch and in all others."""

    name: str
    seconds: float
    first: float | None = None
    others: float | None = None


@dataclass(frozen=True)
class Wall:
    """All phases of a run, and how long it took by the clock."""

    seconds: float
    phases: tuple[Phase, ...]
    compiling: float

    @property
    def unaccounted(self) -> float:
        """Seconds in no phase; below zero if phases overlap."""
        return self.seconds - sum(phase.seconds for phase in self.phases)

    @property
    def accounted(self) -> float:
        """The part of the clock that phases add up to, 0 to 1."""
        return 1.0 - min(abs(self.unaccounted) / self.seconds, 1.0) if self.seconds else 1.0


def wall_of(run: Watched) -> Wall:
    """The wall seconds of a run."""
    compiling = sum(report.compiling for report in run.reports)
    return Wall(run.ended - run.began, tuple(_phases(run)), compiling)


def _phases(run: Watched) -> Iterator[Phase]:
    """All phases in their order.

    A batch is final in the middle of its commit, so the rest of that is taken off what follows.
    """
    started = max(run.head.started_at, run.announced)
    yield Phase(STARTING, run.announced - run.began)
    if run.head.engine == "spark":
        yield Phase(STARTING_SPARK, started - run.announced)
    if not run.reports:
        yield Phase(ENDING, run.ended - started)
        return
    first, *others = run.reports
    last = run.reports[-1]
    before = first.at - started - sum(first.phases.values())
    yield Phase(BEFORE, max(before, 0.0))
    for name in dict.fromkeys(name for report in run.reports for name in report.phases):
        at_first = first.phases.get(name, 0.0)
        later = sum(report.phases.get(name, 0.0) for report in others)
        if at_first + later > 0.0:
            yield Phase(name, at_first + later, at_first, later)
    inside = sum(sum(report.phases.values()) for report in others)
    between = last.at - first.at - inside + min(before, 0.0)
    yield Phase(BETWEEN, max(between, 0.0), 0.0, max(between, 0.0))
    yield Phase(ENDING, max(run.ended - last.at + min(between, 0.0), 0.0))
