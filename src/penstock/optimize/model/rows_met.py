"""Rows that a batch joins of a view over ROWS windows, and the combinations of them that it meets.

Nobody knows when a tuple of a ROWS window will leave it, so that nothing is kept for later ticks: a
batch in which a tick is due joins what came, and of what was there before all, or that part of it
whose groups may have changed. Every row is new then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from penstock.optimize.algebra.posynomial import Monomial
from penstock.optimize.model.changed_part import ChangedPart, changed_parts
from penstock.optimize.model.distinct import occupied
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import BATCH, tick_seconds
from penstock.optimize.model.problem import Floats, Problem
from penstock.query import RowsWindow


@dataclass(frozen=True)
class RowsMet:
    """Of each input: rows in its window as they are joined, rows that come in a batch, and what of
    them may have changed. Batches with a tick are `period` seconds apart."""

    problem: Problem
    seen: tuple[float, ...]
    coming: tuple[float, ...]
    parts: tuple[ChangedPart, ...]
    period: float

    @classmethod
    def of(cls, problem: Problem) -> RowsMet:
        """Those of a problem, in which inputs may be folded."""
        seen = tuple(_seen(problem, flow) for flow in problem.inputs)
        coming = tuple(_coming(problem, flow) for flow in problem.inputs)
        period = max(BATCH, tick_seconds(problem.query))
        return cls(problem, seen, coming, changed_parts(problem), period)

    def combinations(self, mask: int) -> Iterator[Monomial]:
        """Combinations/s of rows that are alive together, as they depend on what is kept: of what
        was there, and of what comes with what was there."""
        members = self.problem.members(mask)
        shrinking = frozenset(i for i in members if self.problem.inputs[i].shrinks)
        part = self._part(members)
        yield Monomial(part * prod(self.seen[i] for i in members) / self.period, shrinking)
        for i in members:
            coming = self.arriving(i) if len(members) == 1 else self.coming[i]
            if coming:
                others = prod(self.seen[j] for j in members if j != i)
                yield Monomial(coming * others / self.period, shrinking | {i})

    def _part(self, members: tuple[int, ...]) -> float:
        """The part of the combinations of rows that were there that is joined."""
        if len(members) == 1:
            return self.parts[members[0]].rows
        same = prod(1.0 - self.parts[i].own for i in members)
        return 1.0 - (1.0 - min(self.parts[i].keys for i in members)) * same

    def arriving(self, i: int) -> float:
        """Rows of an input that come in a batch and lead to a group."""
        return self.coming[i] * self.parts[i].leads

    def younger(self, driver: int) -> int:
        """The streams after a driver in FROM, of which its route finds nothing."""
        flows = enumerate(self.problem.inputs)
        return sum(1 << i for i, flow in flows if i > driver and not flow.is_table)

    def settling(self, i: int) -> float:
        """Rows/s of an input that are sent to where they are searched, and sorted there."""
        flow = self.problem.inputs[i]
        if not has_rows(self.problem, flow):
            return flow.rate
        return (self.parts[i].rows * self.seen[i] + self.arriving(i)) / self.period

    @cached_property
    def table(self) -> Floats:
        """By set of inputs: its combinations/s, if all is kept."""
        was, comes, keys, same = np.ones(1), np.zeros(1), np.ones(1), np.ones(1)
        for seen, coming, part in zip(self.seen, self.coming, self.parts, strict=True):
            comes = np.concatenate([comes, comes * seen + was * coming])
            was = np.concatenate([was, was * seen])
            keys = np.concatenate([keys, np.minimum(keys, part.keys)])
            same = np.concatenate([same, same * (1.0 - part.own)])
        met: Floats = ((1.0 - (1.0 - keys) * same) * was + comes) / self.period
        for i, part in enumerate(self.parts):
            met[1 << i] = (part.rows * self.seen[i] + self.arriving(i)) / self.period
        return met


def rows_met(problem: Problem) -> RowsMet | None:
    """The rows that a view over ROWS windows joins; None of any other query."""
    is_one = problem.query.view is not None and problem.query.is_sequenced
    return RowsMet.of(problem) if is_one else None


def has_rows(problem: Problem, flow: Flow) -> bool:
    """Whether an input has a ROWS window."""
    return isinstance(problem.query.input(flow.alias).window, RowsWindow)


def _seen(problem: Problem, flow: Flow) -> float:
    """Rows of an input that were there before a batch: all of a window, or what it is folded to.
    Those that leave in the batch fold with those that leave before the same tick."""
    if flow.occupied is None or not has_rows(problem, flow):
        return flow.window if flow.occupied is None else flow.occupied
    leaving = min(flow.window, flow.rate * BATCH)
    return occupied(flow.cells, flow.window - leaving) + _by_tick(problem, flow, leaving)


def _coming(problem: Problem, flow: Flow) -> float:
    """Rows of an input that come in a batch; of an early one those are one that have their first
    tick in common."""
    rows = flow.rate * BATCH
    is_folded = flow.occupied is not None and has_rows(problem, flow)
    return _by_tick(problem, flow, rows) if is_folded else rows


def _by_tick(problem: Problem, flow: Flow, rows: float) -> float:
    """What is left of rows that fold with those of the same tick of a batch."""
    ticks = max(1.0, BATCH / tick_seconds(problem.query))
    return ticks * occupied(flow.cells, rows / ticks)
