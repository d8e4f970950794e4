"""Runs that change their plan again and again: at batch boundaries, and where they are reopened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.handle import Run
from penstock.engine.run.options import RunOptions
from penstock.engine.wire.facts import Fact
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.plan.plan import Plan
from penstock.query import Query
from support.engines.runs import Place, expected, first_files_only
from support.plans.every_kind import any_of, kinds_for
from support.plans.trees import assert_only_what_counts_is_there
from support.streams.cases import Case, canonical, write_case
from support.streams.many_batches import any_case, batches_of, shed
from support.streams.views import expected_in_micros, expected_of_kept, told_in_micros


@dataclass(frozen=True)
class Leg:
    """The batches between two openings of a checkpoint.

    It reads the first `files` of every stream, opened with a plan. `switches` are the plans that it
    is given before each of its batches and before the drain: none, one, or one after another.
    """

    files: int
    opened: Plan
    switches: tuple[tuple[Plan, ...], ...]
    drains: bool

    @property
    def plans(self) -> Iterator[Plan]:
        """The plans that its batches follow, each as often as it is taken up."""
        running = self.opened
        for given in self.switches:
            running = given[-1] if given else running
            yield running

    def with_plans(self, changed: Callable[[Plan], Plan]) -> Leg:
        """The same with every plan changed."""
        switches = tuple(tuple(map(changed, given)) for given in self.switches)
        return replace(self, opened=changed(self.opened), switches=switches)


Open = Callable[[Leg, RunOptions], Run]
"""A leg begun on an engine."""


@dataclass(frozen=True)
class Trip:
    """A case, the legs in which it is run, and the drop boxes of its batches, if any."""

    case: Case
    legs: tuple[Leg, ...]
    boxes: tuple[DropBoxes, ...]
    partitions: int

    @property
    def is_drained(self) -> bool:
        return self.legs[-1].drains

    def over(self, query: Query) -> Trip:
        """The same with plans for the query as it reads the files of the case."""

        def placed(plan: Plan) -> Plan:
            return replace(plan, query=replace(plan.query, inputs=query.inputs))

        return self.with_plans(placed)

    def with_plans(self, changed: Callable[[Plan], Plan]) -> Trip:
        """The same with every plan changed."""
        return replace(self, legs=tuple(leg.with_plans(changed) for leg in self.legs))


# ── drawn from a seed ─────────────────────────────────────────────────────────────────────────────


def any_trip(seed: int, case: Case | None = None, *, sheds: bool | None = None) -> Trip:
    """The trip of a seed; a third of those of joins and views are shed, as drop boxes come and go.

    A few plans take turns, so that some come back to state that was given up meanwhile.
    """
    rng = Random(f"trip {seed}")
    case = case or any_case(seed)
    batches = batches_of(case)
    sheds = rng.random() < 0.3 if sheds is None else sheds
    boxes = tuple(_boxes(case.query, rng) if sheds else NO_DROPS for _ in range(batches + 1))
    pool = _pool(case.query, rng)
    cuts = sorted(rng.choices(range(batches + 1), k=rng.choice((0, 1, 1, 2))))
    drains = sheds or rng.random() < 0.7
    first, legs = 0, list[Leg]()
    for cut in (*cuts, batches):
        is_last = len(legs) == len(cuts)
        legs.append(_leg(pool, boxes[first : cut + 1], cut, drains and is_last, rng))
        first = cut
    return Trip(case, tuple(legs), boxes, rng.randint(1, 3))


def _pool(query: Query, rng: Random) -> list[Plan]:
    """A few plans, mostly of different kinds."""
    kinds = kinds_for(query)
    count = rng.randint(2, 5)
    drawn = [*rng.sample(kinds, len(kinds)), *rng.choices(kinds, k=count)][:count]
    return [any_of(kind, query, rng) for kind in drawn]


def _leg(
    pool: Sequence[Plan], boxes: Sequence[DropBoxes], files: int, drains: bool, rng: Random
) -> Leg:
    """A leg whose batches have these boxes before them; the last is for the drain."""
    often = rng.choice((0.3, 0.8, 1.0))
    running, switches = rng.choice(pool), []
    opened = replace(running, drops=boxes[0])
    for number, box in enumerate(boxes):
        count = rng.choice((1, 1, 1, 2)) if rng.random() < often else 0
        given = [rng.choice(pool) for _ in range(count)]
        if number and not given and box != boxes[number - 1]:
            given = [running]
        running = given[-1] if given else running
        switches.append(tuple(replace(plan, drops=box) for plan in given))
    return Leg(files, opened, tuple(switches), drains)


def _boxes(query: Query, rng: Random) -> DropBoxes:
    """Boxes before some streams; a view over what is left has its plain values."""
    fractions = {item.alias: rng.choice((1.0, 0.0, 0.3, 0.7, 0.9)) for item in query.streams}
    some = rng.sample(list(fractions.items()), rng.randint(0, len(fractions)))
    return DropBoxes(tuple(some), rng.randrange(3), estimates=False)


# ── run ───────────────────────────────────────────────────────────────────────────────────────────


def follow(query: Query, place: Place, trip: Trip, begin: Open, **options: Any) -> None:
    """Run all legs of a trip; further options go to the run as they are."""
    for leg in trip.legs:
        with first_files_only(query, leg.files):
            given = RunOptions(
                sink=place.sink,
                checkpoint=str(place.checkpoint),
                available_now=True,
                drain=leg.drains,
                partitions=trip.partitions,
                **options,
            )
            _follow(leg, given, begin)


def _follow(leg: Leg, options: RunOptions, begin: Open) -> None:
    later, begun = iter(leg.switches[1:]), Event()

    def switch(report: Report) -> None:
        begun.wait()
        for plan in next(later, ()):
            run.replan(plan)

    run = begin(leg, replace(options, report=switch))
    begun.set()
    run.await_termination()


def in_process(leg: Leg, options: RunOptions) -> Run:
    """Begin in this process, with another plan already before the first batch."""
    run = open_run(leg.opened, options)
    for plan in leg.switches[0]:
        run.replan(plan)
    return run


class Reckless:
    """A supervisor that gives every batch a plan without asking whether that pays."""

    def __init__(self, plans: Iterator[Plan]):
        self._plans = plans

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        return next(self._plans, None)

    def samples(self, number: int) -> Mapping[str, Draw]:
        return {}

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        return report

    def obey(self, order: Order) -> str:
        return f"{order} is not for tests"

    def close(self) -> None:
        pass


def supervised(leg: Leg, options: RunOptions) -> Run:
    """Begin in this process with a supervisor that switches as the leg does."""
    run = open_run(leg.opened, replace(options, report=None))
    run.pipeline._supervisor = Reckless(leg.plans)
    return run


def on_spark(spark: Any) -> Open:
    """Begin on a session, where the first batch does not wait for another plan."""

    def begin(leg: Leg, options: RunOptions) -> Run:
        from penstock.engine.spark.start import start

        return start((*leg.switches[0][-1:], leg.opened)[0], spark, options)

    return begin


def check(trip: Trip, folder: Path, begin: Open = in_process, **options: Any) -> int:
    """Run a trip and compare with the reference; the number of its results."""
    query = write_case(trip.case, folder / "in")
    trip, place = trip.over(query), Place(folder)
    follow(query, place, trip, begin, **options)
    assert place.manifest.is_closed == trip.is_drained
    found = canonical(place.results(query)) if query.view is None else told_in_micros(place, query)
    assert found == _expected(trip, query, place)
    assert_only_what_counts_is_there(place)
    return found.total()


def _expected(trip: Trip, query: Query, place: Place) -> Counter[tuple[Any, ...]]:
    sheds = any(box.kept for box in trip.boxes)
    kept = shed(trip.case, trip.boxes) if sheds else trip.case
    if query.view is None:
        return expected(kept, query, place.kind, trip.is_drained)
    if sheds:
        return expected_of_kept(trip.case, kept, query)
    return expected_in_micros(trip.case, query, trip.is_drained)


def check_seed(seed: int, folder: Path, begin: Open = in_process, **options: Any) -> int:
    """The trip of a seed, run and compared."""
    return check(any_trip(seed), folder, begin, **options)


def check_estimates(trip: Trip, folder: Path) -> None:
    """Run a shed trip as it is and without switches: the estimates are the same."""
    query = write_case(trip.case, folder / "in")
    estimating = trip.over(query).with_plans(_estimating)
    switched, plain = Place(folder / "switched"), Place(folder / "plain")
    follow(query, switched, estimating, in_process)
    follow(query, plain, estimating.with_plans(_unswitched), in_process)
    assert _rounded(switched) == _rounded(plain)


def _estimating(plan: Plan) -> Plan:
    """The plan with boxes that keep something, so that what is kept can stand for the rest."""
    kept = tuple((alias, max(fraction, 0.2)) for alias, fraction in plan.drops.kept)
    return replace(plan, drops=replace(plan.drops, kept=kept, estimates=True))


def _unswitched(plan: Plan) -> Plan:
    return replace(default_plan(plan.query), drops=plan.drops)


def _rounded(place: Place) -> Counter[tuple[Any, ...]]:
    """All that a view has told, to five digits: ends of intervals have no more."""
    paths = sorted(Path(place.sink.place).glob("*.parquet"))
    rows = [row for path in paths for row in _in_micros(pq.read_table(path)).to_pylist()]
    return Counter(
        tuple(f"{v:.5g}" if isinstance(v, float) else v for v in row.values()) for row in rows
    )


def _in_micros(table: pa.Table) -> pa.Table:
    """Times as numbers: a tick may be beyond what Python has dates for."""
    is_time = [pa.types.is_timestamp(each) for each in table.schema.types]
    columns = zip(table.columns, is_time, strict=True)
    made = [column.cast(pa.int64()) if is_one else column for column, is_one in columns]
    return pa.table(made, names=table.schema.names)
