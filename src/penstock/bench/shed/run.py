"""Loads of 2, 3 and 5 times the capacity, shed by drop boxes: does the query keep up?

Two streams of equal rates are joined. Runs at three rates tell what load a rate is; the boxes keep
what brings the load down to `AIM`. A batch has the tuples of `step` seconds of event time. When
each is done follows from what batches take: tuples are taken to come by the clock, and a batch to
start once all of its tuples are there and the one before is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from penstock.bench.drift.cases.capacity import PROBES, Capacity, Load
from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.streams.keys import uniform
from penstock.bench.drift.streams.scenario import Flow, Scenario, Stretch
from penstock.engine.reports.report import Report

WINDOW, KEYS = 2.0, 20
"""Seconds of the windows, and values of the key."""
PASSING = 200
"""One in so many pairs with equal keys is a result: it is looking at pairs that takes the time, and
all tuples have about as many results, so that chance counts for little."""
AIM = 0.7
"""The load that is shed to: the rest is for what the machine does besides, and for the error of the
load that the three rates tell."""
BOUND = 2.0
"""Steps by which results may be late at the most: one for a batch as long as it may be, one for a
hiccup of the machine's."""

ABOUT = 1.5
"""Times by which a load may be off what was meant."""


@dataclass(frozen=True)
class Size:
    """Times of the capacity, seconds of event time in a batch, and batches that are measured.

    Of the first so many loads the query is also run without shedding.
    """

    times: tuple[float, ...] = (2.0, 3.0, 5.0)
    step: float = 3.0
    batches: int = 10
    whole: int = 3


QUICK = Size(batches=4, whole=1)


@dataclass(frozen=True)
class Shed:
    """A load that was shed: times of the capacity, tuples/s of each stream, the part that is kept.

    `seconds` is what each batch took, `whole` the load without shedding if it was run, `predicted`
    and `measured` are results/s.
    """

    times: float
    rate: float
    keep: float
    step: float
    seconds: tuple[float, ...]
    predicted: float
    measured: float
    whole: float | None = None

    @property
    def load(self) -> float:
        """Seconds that a second of event time takes."""
        return sum(self.seconds) / len(self.seconds) / self.step

    @property
    def delays(self) -> list[float]:
        """Seconds by which the results of each batch are later than its newest tuples."""
        return delays(self.seconds, self.step)

    @property
    def keeps_up(self) -> bool:
        """Whether the delay is bounded: less work comes than can be done, and no batch is late."""
        return self.load <= 1.0 and max(self.delays) <= BOUND * self.step

    @property
    def is_as_meant(self) -> bool:
        """Whether the load without shedding, if it was run, is about the times that were meant:
        otherwise the machine was busier, or idler, while its capacity was found."""
        return self.whole is None or 1.0 / ABOUT <= self.whole / self.times <= ABOUT

    @property
    def kept_vs_predicted(self) -> float:
        """Results beside those predicted of the boxes."""
        return self.measured / self.predicted if self.predicted else 1.0


def delays(seconds: Sequence[float], step: float) -> list[float]:
    """By how much each batch is done after its tuples are there, one coming every `step`."""
    found, done = list[float](), 0.0
    for number, taken in zip(count(1), seconds, strict=False):
        there = number * step
        done = max(done, there) + taken
        found.append(done - there)
    return found


def probe(rate: float, seconds: float, step: float) -> Scenario:
    """Both streams at one rate for so many seconds, in files of `step` seconds."""
    flows = {
        name: Flow(rate, {"k": uniform(KEYS), column: uniform(10 * PASSING)})
        for name, column in (("A", "v"), ("B", "u"))
    }
    return Scenario(
        "shed",
        dict.fromkeys(flows, WINDOW),
        ("A.k = B.k",),
        {f"((A.v + B.u) % {PASSING}) = 0": 1.0 / PASSING},
        (Stretch(flows, round(seconds / step)),),
        step,
    )


def run_shed(size: Size, setting: Setting) -> list[Shed]:
    """Find the capacity, then run every load."""
    setting.progress("how much this machine can do")
    capacity = Capacity(probe, WINDOW, size.step, setting)
    # The first batches load and compile code, on Spark for many of them: no part of the load.
    capacity.runs(PROBES[-1], [{}], size.batches)
    load = capacity.load()
    return [
        _shed(capacity, load, times, size.batches, is_whole=number < size.whole)
        for number, times in enumerate(size.times)
    ]


def _shed(capacity: Capacity, load: Load, times: float, batches: int, *, is_whole: bool) -> Shed:
    rate = load.rate(times)
    keep = load.kept(rate, AIM)
    kept = {"A": keep, "B": keep}
    capacity.setting.progress(
        f"{times:g} times: {rate:,.0f} tuples/s, of which {keep:.0%} are kept"
    )
    (reports,) = capacity.runs(rate, [kept], batches)
    return Shed(
        times,
        rate,
        keep,
        capacity.step,
        tuple(report.seconds for report in reports),
        capacity.predicted(rate, kept),
        _results(reports) / (len(reports) * capacity.step),
        _whole(capacity, rate) if is_whole else None,
    )


def _results(reports: Sequence[Report]) -> int:
    return sum(report.results for report in reports)


def _whole(capacity: Capacity, rate: float) -> float:
    """The load of a rate of which nothing is shed, by one batch."""
    (reports,) = capacity.runs(rate, [{}], 1)
    return sum(report.seconds for report in reports) / len(reports) / capacity.step
