"""The readings of one batch: what its report and facts say of every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock.adapt.figures.sketch import Overlap, Sketch, overlaps
from penstock.adapt.figures.steps import Place, Step, steps_of
from penstock.adapt.figures.subject import Cost, Passing, Rate, Subject
from penstock.adapt.figures.track import Reading
from penstock.engine.reports.parts import OperatorReport
from penstock.engine.reports.report import Report
from penstock.plan.plan import Plan
from penstock.query import Query
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
        query = self.plan.query
        own = {str(c): str(c) for c in (*query.filters, *query.thetas)}
        return own | {str(c): text for text, c in extra_equalities(query).items()}

    def is_pure(self, report: Report) -> bool:
        """Whether all probes of a batch are the plan's own.

        While inner state fills itself, another plan gives the results. Of a plan without an order
        it cannot be told.
        """
        probes = (o for o in report.operators if o.kind == "probe")
        return not self.steps or all(_place(o) in self.steps for o in probes)


def conditions_read(report: Report, reader: Reader) -> Readings:
    """What conditions let through, and how long they took."""
    texts = reader.texts
    for operator in report.operators:
        text = texts.get(operator.operator)
        if operator.kind == "filter" and text is not None and operator.went_in:
            rows, passed = float(operator.went_in), float(operator.came_out)
            yield Passing(text), Reading(passed, rows, _events(report, operator))
            if operator.seconds > 0.0 and rows >= _TIMED:
                yield Cost(text), Reading(operator.seconds, rows, rows)


def _events(report: Report, operator: OperatorReport) -> float:
    """Independent events with the same relative noise as the share of rows that passed.

    Combinations that have a tuple in common pass or fail together: there are no more events than
    new tuples.
    """
    rows, passed = operator.went_in, operator.came_out
    events = passed * rows / max(rows - passed, 1.0)
    new = report.inputs.get(operator.driver)
    return events if new is None or rows <= new.tuples else min(events, float(new.tuples))


@dataclass(frozen=True)
class Meeting:
    """What a probe says of one key class: how often these meet, if the others are known.

    `apart` are the sets of the class on both sides, whose own figures are part of the ratio.
    """

    group: Group
    apart: tuple[Group, ...]
    is_direct: bool


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


def probes_read(report: Report, reader: Reader) -> Iterator[tuple[Step, Reading]]:
    """What probes have found of what they have met; nothing, where others were made too."""
    steps = reader.steps if reader.is_pure(report) else {}
    for operator in report.operators:
        step = steps.get(_place(operator))
        if operator.kind == "probe" and step is not None and operator.met:
            found, came = float(operator.came_out), float(operator.went_in)
            # What one tuple finds is all of one key: neither side has more events than rows.
            events = min(found, came, operator.met / came)
            yield step, Reading(found, operator.met, events, _REACH_ERROR)


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
