"""The readings of one batch: what its report and facts say of every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock.adapt.figures.sizes import Sizes
from penstock.adapt.figures.sketch import Overlap, Sketch, overlaps
from penstock.adapt.figures.steps import Place, Step, steps_of
from penstock.adapt.figures.subject import Cost, Passing, Rate, Subject
from penstock.adapt.figures.track import Reading
from penstock.engine.reports.parts import OperatorReport
from penstock.engine.reports.report import Report
from penstock.plan.plan import Plan
from penstock.query import Condition, Query
from penstock.query.keys import KeyClass
from penstock.stats.statistics import Group, extra_equalities

Readings = Iterator[tuple[Subject, Reading]]

_REACH_ERROR = 0.02
"""The relative error of what was in reach of a probe, which is counted among some hundred rows."""
_TIMED = 1_000
"""Rows from which seconds of a condition say something: of fewer, starting it takes the longest."""


def tuples_of(report: Report, query: Query) -> dict[str, int]:
    """The tuples on time of each input, before drop boxes."""
    found = {}
    for item in query.inputs:
        name = item.source.name
        if item.alias in report.inputs:
            found[item.alias] = report.inputs[item.alias].tuples
        elif name in report.read:
            bad = report.late.get(name, 0) + report.malformed.get(name, 0)
            found[item.alias] = report.read[name] - bad
    return found


def rates_read(query: Query, tuples: Mapping[str, int], covered: Mapping[str, float]) -> Readings:
    """The rates of the streams whose time the batch covers."""
    for item in query.streams:
        seconds = covered.get(item.source.name)
        if seconds is not None and item.alias in tuples:
            count = float(tuples[item.alias])
            yield Rate(item.alias), Reading(count, seconds, count)


@dataclass(frozen=True)
class Reader:
    """Reads the operators of reports, as a plan has them."""

    plan: Plan

    @cached_property
    def steps(self) -> Mapping[Place, Step]:
        return steps_of(self.plan)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The names of conditions in statistics, by those in reports.

        An equality that is in no key class is checked as a condition, and known by its own text.
        """
        return {str(condition): text for text, condition in self._conditions.items()}

    @cached_property
    def streams(self) -> Mapping[str, frozenset[str]]:
        """The inputs that conditions look at, by the names of these in statistics."""
        return {text: condition.streams for text, condition in self._conditions.items()}

    @property
    def _conditions(self) -> Mapping[str, Condition]:
        query = self.plan.query
        own = {str(c): c for c in (*query.filters, *query.thetas)}
        return own | dict(extra_equalities(query))

    def is_pure(self, report: Report) -> bool:
        """Whether all probes of a batch are the plan's own.

        While inner state fills itself, another plan gives the results. Of a plan without an order
        it cannot be told.
        """
        probes = (o for o in report.operators if o.kind == "probe")
        return not self.steps or all(_place(o) in self.steps for o in probes)


def conditions_read(report: Report, reader: Reader, sizes: Sizes) -> Readings:
    """What conditions let through, and how long they took."""
    texts = reader.texts
    for operator in report.operators:
        text = texts.get(operator.operator)
        if operator.kind == "filter" and text is not None and operator.went_in:
            trials, fresh = sizes.trials(operator, reader.streams[text])
            if trials:
                yield Passing(text), _passed(operator, trials, fresh)
            rows = float(operator.went_in)
            if operator.seconds > 0.0 and rows >= _TIMED:
                yield Cost(text), Reading(operator.seconds, rows, rows)


def _passed(operator: OperatorReport, trials: float, fresh: float) -> Reading:
    """The share of rows that passed, as if there had been so many independent trials; events are
    as many as have the same relative noise."""
    share = operator.came_out / operator.went_in
    passed = trials * share
    return Reading(passed, trials, passed / max(1.0 - share, 1.0 / trials), fresh=fresh)


@dataclass(frozen=True)
class Meeting:
    """What a probe says of one key class: how often these meet, if the others are known.

    `apart` are the sets of the class on both sides, whose own figures are part of the ratio.
    """

    group: Group
    apart: tuple[Group, ...]
    is_direct: bool

    @property
    def alone(self) -> list[tuple[str, int]]:
        """The inputs that meet nobody of the class before, each with the class."""
        within = frozenset[str]().union(*(each.streams for each in self.apart))
        return [(alias, self.group.key) for alias in self.group.streams - within]


def meeting_of(step: Step, classes: tuple[KeyClass, ...]) -> Meeting | None:
    """The one key class by which both sides of a probe meet; None if there are more, or none."""
    both = [
        (k, set(key.streams), tuple(range(len(key.types))))
        for k, key in enumerate(classes)
        if step.bound & set(key.streams) and step.target & set(key.streams)
    ]
    if len(both) != 1:
        return None
    ((k, streams, parts),) = both
    sides = (step.bound & streams, step.target & streams)
    apart = tuple(Group(k, parts, frozenset(side)) for side in sides if len(side) > 1)
    is_direct = len(step.bound) == 1 and len(step.target) == 1
    return Meeting(Group(k, parts, frozenset(sides[0] | sides[1])), apart, is_direct)


@dataclass(frozen=True)
class Probed:
    """What a probe has found of what it has met, the rows of the smaller side, and the part of them
    that is fresh."""

    step: Step
    found: float
    met: float
    rows: float
    fresh: float

    def reading(self, matching: float, known: float) -> Reading:
        """The same as a reading, if this part of the rows has keys that the other side has too.

        Rows with a NULL in a key are not among what was met; of all combinations `known` have none.

        What one tuple finds is all of one key: neither side has more events than such rows.
        """
        events = min(self.found, matching * self.rows)
        return Reading(self.found, self.met / known, events, _REACH_ERROR, self.fresh)


def probes_read(report: Report, reader: Reader, sizes: Sizes) -> Iterator[Probed]:
    """What probes have found of what they have met; nothing, where others were made too."""
    steps = reader.steps if reader.is_pure(report) else {}
    for operator in report.operators:
        step = steps.get(_place(operator))
        if operator.kind == "probe" and step is not None and operator.met:
            found, came = float(operator.came_out), float(operator.went_in)
            fresh = sizes.trials(operator, step.bound | step.target)[1]
            yield Probed(step, found, operator.met, min(came, operator.met / came), fresh)


def _place(operator: OperatorReport) -> Place:
    return operator.driver, operator.route, operator.operator


def sketches_read(
    classes: tuple[KeyClass, ...],
    sketches: Mapping[tuple[str, int], Sketch],
    *,
    only_pairs: bool = False,
) -> Iterator[tuple[Group, Overlap]]:
    """The overlaps of all groups of which there are sketches."""
    for k, key in enumerate(classes):
        mine = {alias: sketches[alias, k] for alias in key.streams if (alias, k) in sketches}
        parts = tuple(range(len(key.types)))
        for members, overlap in overlaps(mine, only_pairs=only_pairs).items():
            yield Group(k, parts, members), overlap


def as_reading(overlap: Overlap) -> Reading:
    """An overlap as a reading."""
    return Reading(overlap.total, overlap.met, overlap.hits)
