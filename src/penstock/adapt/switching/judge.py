"""The judge of a switch: whether it brought what it promised, by the seconds of batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot, inf, sqrt
from statistics import fmean, median, pstdev

from penstock.adapt.settings import Settings

_LEAST = 3
"""Batches without which nothing is usual."""
_VARIED = 2.0
"""How many times the least of the predictions the largest must be to tell a slope."""

_NO_TIME = 1e-9
"""Seconds that a batch takes at the least, so that others can be compared with it."""
_LEAST_SLOPE = 0.5
"""The part of a predicted second that batches take at the least, or of what they take in all."""


@dataclass(frozen=True)
class Usual:
    """The seconds of a plan's batches by those that were predicted: a start, and a slope.

    `error` is the standard error of what it says; `least` and `most` are the predictions that it
    is known from.
    """

    start: float
    slope: float
    error: float
    least: float = 0.0
    most: float = inf

    def seconds(self, predicted: float) -> float:
        """The seconds that a batch takes."""
        return self.start + self.slope * predicted

    def more(self, predicted: float) -> float:
        """The seconds beside these, or less than them, if beyond what is known all of a batch grows
        and shrinks with its work: costs that were guessed too low look like a start as long as all
        batches have as much to do."""
        known = min(max(predicted, self.least), self.most)
        in_proportion = self.seconds(known) * (predicted / known if known > 0.0 else 1.0)
        return in_proportion - self.seconds(predicted)


@dataclass(frozen=True)
class Trial:
    """A batch after a switch: its seconds, and what the model says of both plans."""

    measured: float
    expected_old: float
    expected_new: float


@dataclass(frozen=True)
class Outcome:
    """The part of the work that a switch saved, with its standard error, beside what was promised
    for the same batches; `factor` is how much more of it the new plan takes than was said.

    `doubt` is how much more it may have saved, as nobody knows what the old plan would have taken
    for batches that have more or less to do than those before the switch.
    """

    promise: float
    saved: float
    error: float
    factor: float
    doubt: float = 0.0

    def is_void(self, settings: Settings) -> bool:
        """Whether it surely brought less than it had to."""
        least = settings.least_outcome * max(0.0, self.promise)
        return self.saved + self.doubt + settings.outcome_errors * self.error < least


def usual_of(batches: Sequence[tuple[float, float]]) -> Usual | None:
    """What is usual, by pairs of predicted and measured seconds; None of too few.

    A batch takes some time however little is in it, which guessed costs do not know. Where the
    predictions are all alike, nobody can tell that from the rest: then a predicted second is taken
    for one at the most, so that no more is asked of a switch than it said.
    """
    if len(batches) < _LEAST:
        return None
    predicted = [pair[0] for pair in batches]
    x, y = fmean(predicted), fmean(pair[1] for pair in batches)
    if x <= 0.0 or y <= 0.0:
        return None
    slope = min(1.0, y / x)
    if max(predicted) > _VARIED * min(predicted):
        found = sum((p - x) * (m - y) for p, m in batches) / sum((p - x) ** 2 for p in predicted)
        # Predictions vary also with figures that settle, which no batch takes longer for.
        slope = min(max(found, _LEAST_SLOPE * slope), y / x)
    start = median(m - slope * p for p, m in batches)
    off = [m - start - slope * p for p, m in batches]
    error = pstdev(off) / sqrt(len(batches))
    return Usual(start, slope, error, min(predicted), max(predicted))


def outcome_of(trials: Sequence[Trial], usual: Usual) -> Outcome:
    """What came of a switch, by the median: single batches are slow for reasons of their own.

    Each batch is compared with what the old plan would have taken for it, so that no more than all
    of that is saved. Where the load has changed since, that can be read in two ways: the outcome is
    by the middle of them, and the doubt goes up to the one that is better for the switch; or up to
    what the later half of the batches says, if things have become better meanwhile.
    """
    readings = [_Reading(trials, usual, part) for part in (0.5, 0.0, 1.0)]
    middle = readings[0]
    parts, whole = middle.parts, fmean(middle.before)
    saved = 1.0 - median(parts)
    error = hypot(pstdev(parts) / sqrt(len(parts)), usual.error / whole)
    promised, new = middle.promised, middle.new
    factor = 1.0 + (promised - saved * whole) / new if new > 0.0 else 1.0
    half = len(parts) // 2
    most = 1.0 - min(min(median(r.parts), median(r.parts[half:])) for r in readings)
    return Outcome(promised / whole, saved, error, factor, most - saved)


class _Reading:
    """Trials beside what the old plan would have taken for them, if a part of what is `more` in
    proportion came with the load."""

    def __init__(self, trials: Sequence[Trial], usual: Usual, part: float):
        more = [part * usual.more(t.expected_old) for t in trials]
        pairs = list(zip(trials, more, strict=True))
        self.before = [max(usual.seconds(t.expected_old) + m, _NO_TIME) for t, m in pairs]
        self.parts = [t.measured / old for t, old in zip(trials, self.before, strict=True)]
        # What the work of either plan takes by this reading, without what every batch takes.
        self.new = fmean(t.expected_new * (usual.slope + _ratio(m, t)) for t, m in pairs)
        old = fmean(t.expected_old * (usual.slope + _ratio(m, t)) for t, m in pairs)
        self.promised = old - self.new


def _ratio(more: float, trial: Trial) -> float:
    return more / trial.expected_old if trial.expected_old > 0.0 else 0.0


@dataclass
class Judge:
    """Remembers what is usual for the running plan, and judges a new one by it."""

    settings: Settings
    batches: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=20))
    usual: Usual | None = None
    trials: list[Trial] = field(default_factory=list)

    def hear(self, predicted: float, measured: float) -> None:
        """Take in a batch while no switch is judged."""
        if measured > 0.0:
            self.batches.append((predicted, measured))

    @property
    def factor(self) -> float | None:
        """How many times the predicted seconds batches take; None while too few were seen."""
        predicted = sum(pair[0] for pair in self.batches)
        if len(self.batches) < _LEAST or not predicted:
            return None
        return sum(pair[1] for pair in self.batches) / predicted

    def begin(self) -> None:
        """A switch has been made: what was usual is the old plan's."""
        self.usual, self.trials = usual_of(self.batches), []
        self.batches.clear()

    @property
    def is_judging(self) -> bool:
        return self.usual is not None

    def drop(self) -> None:
        """There is nothing left to compare with."""
        self.usual = None

    def try_(self, trial: Trial) -> Outcome | None:
        """Take in a batch after a switch; the outcome once there are enough of them."""
        assert self.usual is not None, "only a switch from a plan with a past is judged"
        self.trials.append(trial)
        if len(self.trials) < self.settings.judged_batches:
            return None
        outcome, self.usual = outcome_of(self.trials, self.usual), None
        self.batches.extend((t.expected_new, t.measured) for t in self.trials)
        return outcome
