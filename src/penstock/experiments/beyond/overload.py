"""Output and delay under rising load, with and without shedding, by the clock."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.bench.drift.cases.burst import WINDOW, Pace, Seen, join_of, play, probe
from penstock.bench.drift.cases.capacity import Capacity, Load
from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.streams.scenario import Scenario
from penstock.experiments.beyond.native_load import native_seen
from penstock.experiments.frame.chart import Axis, LineChart, Mark, Series
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import BEYOND
from penstock.experiments.setting.java import has_java
from penstock.optimize.delay.batches import Service
from penstock.optimize.delay.expected import delay_of

PACE = Pace(trigger=0.25, delay=1.0)
"""Seconds between batches, and of the delay that shedding aims at."""
_SHED, _WHOLE, _NATIVE = "with shedding", "without shedding", "Spark’s own join"
_PARTS: Mapping[str, bool] = {_SHED: True, _WHOLE: False}
_IDLE, _WARM = 0.1, 1.0
"""The load and the seconds of a run that counts for nothing."""
_AIMED = 2.0
"""The delay counts as held up to so many times what is wanted."""


@dataclass(frozen=True)
class Extent:
    """The loads that are run with and without shedding and on Spark, for how many seconds each."""

    shed: tuple[float, ...]
    whole: tuple[float, ...]
    seconds: float
    native: tuple[float, ...] = ()


QUICK = Extent((0.5, 2.0, 4.0), (0.5, 2.0), 4.0)
FULL = Extent(
    (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
    (0.5, 0.75, 1.0, 1.5, 2.0, 3.0),
    15.0,
    (0.5, 1.0, 2.0, 3.0),
)


@dataclass(frozen=True)
class Point:
    """One run: its load, the results for a second of the clock, and the longest delay, both of its
    later half."""

    load: float
    output: float
    delay: float


def point_of(load: float, seen: Sequence[Seen]) -> Point:
    """What the later half of the batches tells, the first ones being a start."""
    half = seen[len(seen) // 2 :]
    since = seen[len(seen) // 2 - 1].at if len(seen) > 1 else 0.0
    results = sum(each.results for each in half)
    most = max(each.delay for each in half)
    return Point(load, results / max(half[-1].at - since, 1e-9), most)


Found = Mapping[str, Sequence[Point]]


def _run(size: Size, progress: Progress) -> Findings:
    extent = QUICK if size == "quick" else FULL
    steps = 1 + len(extent.shed) + len(extent.whole)
    with tempfile.TemporaryDirectory(prefix="penstock-lab-") as scratch:
        setting = Setting(Path(scratch), lambda _: None, repeat=1)
        progress(0, steps)
        load = Capacity(probe, WINDOW, PACE.delay / 2.0, setting).load()
        # Who sheds loads code of his own, which is no load of the streams.
        _point(_IDLE, load, replace(extent, seconds=_WARM), setting, sheds=True)
        found: dict[str, list[Point]] = {name: [] for name in _PARTS}
        wanted = [(n, x) for n in _PARTS for x in (extent.shed if _PARTS[n] else extent.whole)]
        for done, (name, times) in enumerate(wanted, 1):
            progress(done, steps)
            found[name].append(_point(times, load, extent, setting, sheds=_PARTS[name]))
        found |= _native(load, extent)
    return findings_of(found, load, extent.seconds)


def _native(load: Load, extent: Extent) -> dict[str, list[Point]]:
    """Spark's own join at the same rates; nothing where there is no Java."""
    if not extent.native or not has_java():
        return {}
    # What it does not get done in so many seconds more is not waited for.
    most = 4.0 * extent.seconds
    seen = {
        times: native_seen(_streams(times, load, extent), PACE.trigger, most)
        for times in extent.native
    }
    return {_NATIVE: [point_of(times, each) for times, each in seen.items() if each]}


def _point(times: float, load: Load, extent: Extent, setting: Setting, *, sheds: bool) -> Point:
    seen = play(_streams(times, load, extent), setting, PACE, sheds=sheds)
    return point_of(times, seen)


def _streams(times: float, load: Load, extent: Extent) -> Scenario:
    """The streams at a load, of which a batch takes all that is there."""
    return replace(join_of("overload", [(load.rate(times), extent.seconds)]), takes_all=True)


def findings_of(found: Found, load: Load, seconds: float) -> Findings:
    """Both charts, and the verdicts."""
    charts = (_delays(found, load, seconds), _outputs(found))
    return Findings(charts, (_held(found), _grows(found), _kept(found)))


def expected(times: float, load: Load, seconds: float) -> float:
    """The delay without shedding after some seconds: that of the queueing model, or what is left
    over of each second adds up."""
    start = min(load.start, 0.9 * times)
    steady = delay_of(Service(start * PACE.trigger, times - start, 0.0), PACE.trigger)
    if times - start < 1.0 and steady is not None:
        return min(steady.oldest, seconds)
    return PACE.trigger + times + max(0.0, times - 1.0) * seconds


def _delays(found: Found, load: Load, seconds: float) -> LineChart:
    loads = tuple(point.load for point in found[_WHOLE])
    model = tuple(expected(x, load, seconds) for x in loads)
    return LineChart(
        f"The longest delay in the later half of {seconds:g} s",
        _LOAD,
        Axis("delay", "s", is_log=True),
        (*_lines(found, "delay"), Series(_WHOLE, "model", loads, model)),
        (_FULL,),
    )


def _outputs(found: Found) -> LineChart:
    axis = Axis("results for a second of the clock", "1/s", low=0.0)
    return LineChart("Output", _LOAD, axis, _lines(found, "output"), (_FULL,))


_LOAD = Axis("load", "times the capacity")
_FULL = Mark("the capacity", 1.0, 1.0)


def _lines(found: Found, what: str) -> tuple[Series, ...]:
    return tuple(
        Series(
            name, "measured", tuple(p.load for p in points), tuple(getattr(p, what) for p in points)
        )
        for name, points in found.items()
    )


def _held(found: Found) -> Claim:
    most = max(point.delay for point in found[_SHED])
    return checked(
        "Shedding holds the delay, whatever the load",
        paper=f"{_AIMED * PACE.delay:g} s at the most, where {PACE.delay:g} s are wanted",
        ours=f"{most:.2g} s at the most",
        checks={"held": most <= _AIMED * PACE.delay},
        reason="In a short run the first batch, which knows nothing yet, weighs much; and what "
        "else this machine does makes batches longer",
        timed=True,
    )


def _grows(found: Found) -> Claim:
    over = [point for point in found[_WHOLE] if point.load >= 2.0]
    shed = {point.load: point.delay for point in found[_SHED]}
    return checked(
        "Above the capacity the delay grows without it",
        paper="longer than with shedding at every load of 2 and more",
        ours=", ".join(f"{p.delay:.2g} s at {p.load:g} ×" for p in over),
        checks={f"at {p.load:g} ×": p.delay > shed[p.load] for p in over},
        timed=True,
    )


def _kept(found: Found) -> Claim:
    """Whether the output goes on while more comes than can be looked at."""
    outputs = [point.output for point in found[_SHED]]
    most = [max(outputs[: n + 1]) for n in range(len(outputs))]
    return checked(
        "With shedding the output does not break down as the load rises",
        paper="never below half of what it was at a lower load",
        ours=", ".join(f"{p.output:,.0f}/s at {p.load:g} ×" for p in found[_SHED]),
        checks={
            "half at the least": all(now >= 0.5 * m for now, m in zip(outputs, most, strict=True))
        },
        reason="To read what is shed takes time too, which the joins then do not have",
        timed=True,
    )


EXPERIMENT = Experiment(
    name="beyond-overload",
    paper=BEYOND,
    figure="Rising load",
    title="Output and delay under rising load",
    question="What becomes of results and delay when more comes than can be done?",
    about="Two streams are joined over windows of two seconds, in one process. First the machine’s "
    "capacity is measured; then the streams come by the clock at rates that make loads below and "
    "above it, and the query runs with shedding, for a delay of a second, and without. What the "
    "dashed line foresees is the queueing model below the capacity; above it, what is left over of "
    "each second adds up. At full size Spark’s own join, which cannot shed, gets the same streams; "
    "the capacity is that of Penstock in one process, on one core.",
    run=_run,
    cheap=False,
)
