"""Eddy filters: a router decides their order tuple by tuple, or for a few tuples at once.

After each filter every batch of tuples goes back to the router, which sends it to the filter that
spares the most work by what it knows of such tuples. Decisions are looked up in tables, for many
batches at a time: filters work on columns.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import holds
from penstock.engine.routes.eddies.eddy_profile import KEPT, EddyProfile, Table
from penstock.engine.routes.screening import Bools, Screened, declared_seconds, filter_flow
from penstock.engine.rows.columns import plain_name
from penstock.engine.wire.facts import EddySample, Fact, OperatorFlow
from penstock.engine.wire.packets import as_stream, from_streams
from penstock.query import Condition
from penstock.query.expression import columns_of

Int64s = NDArray[np.int64]
Float64s = NDArray[np.float64]

SAMPLED = 0.03
"""The part of the batches that is routed at random, to learn from."""
FIRST = 512
"""Tuples that are all routed at random, as long as nothing is known."""
REFRESH = 8_192
"""Tuples between two looks at what has been learned: new tables take a millisecond or two, and
filters worth routing for some hundred times that for as many tuples."""

clock = time.perf_counter
"""The clock that filters are timed by."""


@dataclass
class EddyFilters:
    """The filters of one stream under an eddy. What it learns goes on from batch to batch."""

    driver: str
    conditions: tuple[Condition, ...]
    attributes: tuple[str, ...]
    batch: int
    seed: int = 0
    profile: EddyProfile = field(init=False)

    def __post_init__(self) -> None:
        self.profile = EddyProfile.empty([declared_seconds(c) for c in self.conditions])

    def at(self, number: int) -> EddyFilters:
        """A copy for the tuples of one batch."""
        copy = replace(self, seed=number)
        copy.profile = self.profile
        return copy

    def screen(self, rows: pa.RecordBatch, first: int = 0) -> Screened:
        """Route tuples through all filters, and tell what was learned."""
        rng = np.random.default_rng((self.seed, len(rows)))
        passes = np.empty(len(rows), np.bool_)
        learned = []
        through = np.zeros((3, len(self.conditions)))
        first = 0
        while first < len(rows):
            is_cold = not len(self.profile)
            stretch = rows.slice(first, FIRST if is_cold else REFRESH)
            part = 1.0 if is_cold else SAMPLED
            hops = _Hops(self, stretch, self.profile.tables(), rng, part)
            passes[first : first + len(stretch)] = hops.run()
            learned.append(hops.seen())
            through += [hops.work[0], hops.out, hops.work[1]]
            self.profile = self.profile.joined(learned[-1])
            first += len(stretch)
        return Screened(passes, facts=(*self._told(learned), *self._flows(through)))

    def learn(self, facts: Iterable[Fact]) -> None:
        """Take in what the tasks of a batch have told."""
        for fact in facts:
            if isinstance(fact, EddySample) and fact.driver == self.driver:
                self.profile = self.profile.joined(_profile_of(fact))

    def _flows(self, through: Float64s) -> Iterator[OperatorFlow]:
        """The flow of each filter: rows in, rows out and seconds."""
        for condition, (went_in, came_out, seconds) in zip(self.conditions, through.T, strict=True):
            rows = (int(went_in), int(came_out))
            yield filter_flow(self.driver, 0, condition, rows, float(seconds))

    def _told(self, learned: list[EddyProfile]) -> tuple[EddySample, ...]:
        if not learned:
            return ()
        seen = reduce(EddyProfile.joined, learned)
        sample = EddySample(
            driver=self.driver,
            tuples=as_stream(seen.tuples).to_pybytes(),
            passed=seen.passed.tobytes(),
            rows=tuple(seen.rows.tolist()),
            seconds=tuple(seen.seconds.tolist()),
        )
        return (sample,)


def _profile_of(sample: EddySample) -> EddyProfile:
    tuples = from_streams([sample.tuples])
    passed = np.frombuffer(sample.passed, np.int8).reshape(-1, len(sample.rows))
    return EddyProfile(tuples, passed, np.array(sample.rows), np.array(sample.seconds))


class _Hops:
    """Some tuples on their way from filter to filter."""

    def __init__(
        self,
        eddy: EddyFilters,
        rows: pa.RecordBatch,
        tables: tuple[Table, ...],
        rng: np.random.Generator,
        part: float,
    ):
        filters = len(eddy.conditions)
        self.eddy = eddy
        self.rows = rows
        self.batches = np.arange(len(rows)) // eddy.batch
        self.starts = np.arange(0, len(rows), eddy.batch)
        self.passes = np.ones(len(rows), np.bool_)
        self.passed = np.full((len(rows), filters), -1, np.int8)
        self.work = np.zeros((2, filters))
        self.out = np.zeros(filters)
        self.done = np.zeros((len(self.starts), filters), np.bool_)
        self.sampled = rng.random(len(self.starts)) < part
        self.chance = rng.random((len(self.starts), filters))
        looked_up = [table.look_up(rows) for table in tables]
        self.ranks = np.stack(looked_up, axis=1) if tables else np.zeros((len(rows), filters))

    def run(self) -> Bools:
        """Which tuples pass all filters."""
        for _ in self.eddy.conditions:
            chosen = self._decide()
            self.done[np.arange(len(chosen)), chosen] = True
            theirs = chosen[self.batches]
            for number in range(len(self.eddy.conditions)):
                self._filter(number, np.flatnonzero(self.passes & (theirs == number)))
        return self.passes

    def seen(self) -> EddyProfile:
        """The profile of the tuples that were routed at random, and how long filters took."""
        places = np.flatnonzero(self.sampled[self.batches])[-KEPT:]
        tuples = self.rows.select(self.eddy.attributes).take(pa.array(places))
        return EddyProfile(tuples, self.passed[places], self.work[0], self.work[1])

    def _decide(self) -> Int64s:
        """The next filter of each batch of tuples: of those still to do, the best on average."""
        ranks = self.ranks
        if self.eddy.batch > 1:
            sums = np.add.reduceat(ranks * self.passes[:, None], self.starts, axis=0)
            left = np.add.reduceat(self.passes, self.starts, dtype=np.int64)
            ranks = sums / np.maximum(left, 1)[:, None]
        ranks = np.where(self.sampled[:, None], self.chance, ranks)
        chosen: Int64s = np.argmax(np.where(self.done, -np.inf, ranks), axis=1)
        return chosen

    def _filter(self, number: int, places: Int64s) -> None:
        if not len(places):
            return
        expression = self.eddy.conditions[number].expression
        names = sorted({plain_name(column) for column in columns_of(expression)})
        started = clock()
        rows = self.rows.select(names).take(pa.array(places))
        held = holds(expression, rows, plain_name).to_numpy(zero_copy_only=False)
        self.work[:, number] += len(places), clock() - started
        self.out[number] += np.count_nonzero(held)
        self.passed[places, number] = held
        self.passes[places[~held]] = False
