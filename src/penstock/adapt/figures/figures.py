"""The figures of the streams: every batch is taken in, and they can be asked for at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod, sqrt
from typing import Literal

from penstock.adapt.figures.distinct import distinct_read
from penstock.adapt.figures.event_clock import EventClock
from penstock.adapt.figures.measured import Measured
from penstock.adapt.figures.readings import (
    Meeting,
    Probed,
    Reader,
    as_reading,
    conditions_read,
    meeting_of,
    probes_read,
    rates_read,
    tuples_of,
)
from penstock.adapt.figures.sizes import Sizes
from penstock.adapt.figures.sketch_book import SketchBook
from penstock.adapt.figures.steps import Step
from penstock.adapt.figures.subject import Equal, Rate, Size, Subject
from penstock.adapt.figures.track import Reading, Track
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.duration import MICROS
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.figure import Figure
from penstock.plan.plan import Plan
from penstock.query import Query, TimeWindow
from penstock.query.keys import key_classes
from penstock.stats.statistics import Group


class Figures:
    """What reports and facts say of rates, conditions and keys, smoothed over batches."""

    def __init__(self, query: Query, settings: Settings = DEFAULT_SETTINGS):
        self.query = query
        self.settings = settings
        self.clock = EventClock()
        self.tracks: dict[Subject, Track] = {}
        self._classes = key_classes(query)
        self._book = SketchBook(self._classes, settings)
        self._sketched_until: dict[Group, float] = {}
        self._matching: dict[Group, float] = {}
        self._meetings: dict[Step, Meeting | None] = {}
        self._tables = {item.alias: 0 for item in query.inputs if item.is_table}
        self._is_whole: bool | None = None
        self._reader: Reader | None = None
        self._spans = Track(settings.remembered_batches)
        self.span = 0.0

    @cached_property
    def largest_window(self) -> float:
        """Seconds of the longest window that ends."""
        windows = [item.window for item in self.query.inputs]
        ends = [w.extent + w.slide for w in windows if isinstance(w, TimeWindow) and w.extent]
        return max(ends, default=0) / MICROS

    def take(self, report: Report, facts: Sequence[Fact], plan: Plan) -> dict[Subject, Reading]:
        """Take a batch in; what it says by itself."""
        tuples = tuples_of(report, self.query)
        covered = self.clock.covered(report, self._by_source(tuples))
        self._count_tables(report, tuples)
        self.span = max(covered.values(), default=0.0)
        decay = self._decay(self.span)
        found: dict[Subject, Reading] = dict(rates_read(self.query, tuples, covered))
        reader, sizes = self.reader(plan), Sizes.of(report, self.query)
        for subject, reading in conditions_read(report, reader, sizes):
            _add(found, subject, reading)
        overlaps = self._book.take(facts, decay)
        for probed in probes_read(report, reader, sizes):
            self._probed(found, probed)
        self._keep(found, decay)
        self._matching |= {group: each.matching for group, each in overlaps.items() if each.keys}
        return found | {Equal(group, "sketch"): as_reading(o) for group, o in overlaps.items()}

    def reader(self, plan: Plan) -> Reader:
        """Who reads reports of batches that follow a plan."""
        if self._reader is None or self._reader.plan is not plan:
            self._reader = Reader(plan)
        return self._reader

    def restart(self, subject: Subject, readings: int) -> int:
        """Forget all but the latest readings of a figure that has drifted; the batches left."""
        if isinstance(subject, Equal) and subject.by == "sketch":
            batches = self._book.restart(subject.group, readings)
            # Windows still hold what came before: until they do not, probes say what was.
            self._sketched_until[subject.group] = self.clock.since + self.largest_window
            return batches
        if subject in self.tracks:
            self.tracks[subject].restart(readings)
        return readings

    def latest(self, subject: Subject) -> float:
        """The value of a figure over the batches that count."""
        if isinstance(subject, Equal) and subject.by == "sketch":
            overlap = self._book.overlap(subject.group)
            return overlap.total / overlap.met if overlap is not None else 0.0
        return self.tracks[subject].value if subject in self.tracks else 0.0

    def rates(self) -> dict[Subject, Measured]:
        """The rates as they stand."""
        return {
            subject: _measured(track)
            for subject, track in self.tracks.items()
            if isinstance(subject, Rate) and track.below > 0.0
        }

    def variations(self) -> dict[str, Figure]:
        """How much each rate varies from second to second, by alias, where enough batches tell."""
        found = {}
        for subject, track in self.tracks.items():
            count = len(track.recent)
            if isinstance(subject, Rate) and count >= self.settings.variation_batches:
                error = track.variation / sqrt(2.0 * (count - 1))
                found[subject.alias] = Figure(track.variation, "measured", error)
        return found

    def repeated(self) -> frozenset[tuple[str, int]]:
        """The inputs and key classes of which some key has come twice."""
        return self._book.repeated()

    def measured(self) -> dict[Subject, Measured]:
        """Every figure as it stands; of a group the best that is said of it."""
        found: dict[Subject, Measured] = {
            subject: _measured(track)
            for subject, track in self.tracks.items()
            if not isinstance(subject, Equal) and track.below > 0.0
        }
        found |= {Size(alias): _counted(rows) for alias, rows in self._tables.items() if rows}
        if self.query.view is not None:
            found |= dict(distinct_read(self._classes, self._book.sums()))
        return found | {Equal(group, "sketch"): each for group, each in self.groups().items()}

    def groups(self) -> dict[Group, Measured]:
        """The equal fractions of groups: of sketches, where no probe of one input tells them."""
        by_sketch = {
            group: Measured(o.total / o.met, o.error, o.hits, _unit(o.total, o.met, o.hits))
            for group, o in self._book.overlaps().items()
        }
        probed = {
            s: _measured(track)
            for s, track in self.tracks.items()
            if isinstance(s, Equal) and track.below > 0.0
        }
        routes = {s: each for s, each in probed.items() if s.by == "route"}
        found = _chained(routes, by_sketch) | by_sketch
        for subject, each in probed.items():
            if subject.by == "probe" and self._is_probe_better(subject.group, each, by_sketch):
                found[subject.group] = each
        return found

    def _is_probe_better(
        self, group: Group, probed: Measured, by_sketch: Mapping[Group, Measured]
    ) -> bool:
        """Whether a probe is believed rather than a sketch: it sees the windows as they are."""
        if group not in by_sketch or not by_sketch[group].is_known(self.settings):
            return True
        is_turning = self.clock.since < self._sketched_until.get(group, 0.0)
        is_old = self.tracks[Equal(group, "probe")].age >= self.settings.stale_batches
        return probed.is_known(self.settings) and not is_turning and not is_old

    def _probed(self, found: dict[Subject, Reading], probed: Probed) -> None:
        """Read a probe, if one key alone has decided what it found."""
        meeting = self._meeting(probed.step)
        if meeting is not None:
            by: Literal["probe", "route"] = "probe" if meeting.is_direct else "route"
            known = prod(self._book.known_share(of) for of in meeting.alone)
            reading = probed.reading(self._matching.get(meeting.group, 1.0), known)
            _add(found, Equal(meeting.group, by, meeting.apart), reading)

    def _meeting(self, step: Step) -> Meeting | None:
        if step not in self._meetings:
            self._meetings[step] = meeting_of(step, self._classes)
        return self._meetings[step]

    def _keep(self, found: Mapping[Subject, Reading], decay: float) -> None:
        for subject, track in self.tracks.items():
            if subject not in found:
                track.fade(decay)
        for subject, reading in found.items():
            if subject not in self.tracks:
                self.tracks[subject] = Track(self.settings.remembered_batches)
            track = self.tracks[subject]
            track.add(reading, decay)
            if isinstance(subject, Rate) and track.is_moving(self.settings):
                track.narrow(self.settings.moving_batches)

    def _decay(self, span: float) -> float:
        """How much the past counts after a batch of so many seconds of event time."""
        if span > 0.0:
            self._spans.add(Reading(span, 1.0, 1.0), 0.9)
        usual = self._spans.value
        batches = self.settings.half_life_windows * self.largest_window / usual if usual else 0.0
        return float(0.5 ** (1.0 / max(self.settings.half_life_batches, batches)))

    def _count_tables(self, report: Report, tuples: Mapping[str, int]) -> None:
        """Add up the rows of tables, if they are heard of from the first one on."""
        if self._is_whole is None:
            self._is_whole = report.batch == 0
        if self._is_whole:
            for alias in self._tables:
                # What is read later of a table that changes is all of it.
                is_renewed = self.query.input(alias).source.refresh is not None
                before = 0 if is_renewed and tuples.get(alias) else self._tables[alias]
                self._tables[alias] = before + tuples.get(alias, 0)

    def _by_source(self, tuples: Mapping[str, int]) -> dict[str, int]:
        return {self.query.input(alias).source.name: count for alias, count in tuples.items()}


def _add(found: dict[Subject, Reading], subject: Subject, reading: Reading) -> None:
    """Add to what other tasks, drivers or routes of the batch say of the same."""
    other = found.get(subject)
    if other is not None:
        above, below = other.above + reading.above, other.below + reading.below
        doubt, fresh = max(other.doubt, reading.doubt), min(other.fresh, reading.fresh)
        reading = Reading(above, below, other.hits + reading.hits, doubt, fresh)
    found[subject] = reading


def _chained(
    routes: Mapping[Equal, Measured], known: Mapping[Group, Measured]
) -> dict[Group, Measured]:
    """Groups of which probes say only how much more selective they are than parts of them.

    Of several ways to one, that with the most events is taken.
    """
    found: dict[Group, Measured] = {}
    ways = sorted(routes.items(), key=lambda way: (len(way[0].group.streams), way[1].hits))
    for subject, each in ways:
        parts = [known.get(part) or found.get(part) for part in subject.apart]
        if all(part is not None for part in parts):
            times = prod(part.value for part in parts if part is not None)
            value, unit = each.value * times, each.unit * times
            found[subject.group] = replace(each, value=value, unit=unit)
    return found


def _measured(track: Track) -> Measured:
    unit = _unit(track.above, track.below, track.hits)
    return Measured(track.value, track.relative_error, track.hits, unit, track.lag)


def _counted(rows: int) -> Measured:
    return Measured(float(rows), 0.0, float(rows), 1.0)


def _unit(above: float, below: float, hits: float) -> float:
    """What one event makes of a figure; of none that came, what the first would."""
    return above / below / hits if above > 0.0 and hits > 0.0 else 1.0 / below
