"""QM Fig. 11: the results of a mesh and its rivals over time, when they cannot keep up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from penstock.duration import MICROS
from penstock.engine.rows.columns import TS
from penstock.experiments.frame.chart import Axis, LineChart, Series
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import QM
from penstock.experiments.query_mesh.charged import charged
from penstock.experiments.query_mesh.road import FILE, road_contest
from penstock.experiments.query_mesh.ten_way import MESH, NAMES, Contest, both, contest_of
from penstock.experiments.setting.real_data import missing, real_data

_POINTS = 24
_MORE = 0.1
"""The least by which the mesh’s results must be more to be called significantly more, of those that
the mesh has. The paper gives no numbers."""
_PAPER = {
    "Synthetic": "significantly more than either rival over time",
    "Real": "more than either, not by as much",
}


@dataclass(frozen=True)
class OverTime:
    """Seconds since the first tuple, and how many results each rival has by then."""

    seconds: tuple[float, ...]
    counts: Mapping[str, tuple[int, ...]]

    @property
    def lead(self) -> float:
        """What the mesh has more than the next at the end, as a part of its own."""
        ends = {rival: counts[-1] for rival, counts in self.counts.items()}
        return 1.0 - max(n for rival, n in ends.items() if rival != MESH) / ends[MESH]

    def is_ahead(self, place: int) -> bool:
        """Whether no rival has more results than the mesh at one of the points."""
        return all(own[place] <= self.counts[MESH][place] for own in self.counts.values())


def over_time(contest: Contest) -> OverTime:
    """Results over time on a server that is just fast enough for the mesh."""
    span = _span(contest)
    unit = span / charged(MESH, contest).units
    ends = np.linspace(span / _POINTS, span, _POINTS)
    counts = {}
    for rival in NAMES:
        produced = charged(rival, contest, unit).outcome.produced_at / MICROS - _first(contest)
        counts[rival] = tuple(np.searchsorted(produced, ends, side="right").tolist())
    return OverTime(tuple(ends.tolist()), counts)


def _run(size: Size, progress: Progress) -> Findings:
    progress(0, 2)
    found = {"Synthetic": over_time(contest_of(both(size)[0]))}
    progress(1, 2)
    path = real_data(FILE)
    if path is not None:
        found["Real"] = over_time(road_contest(path))
    charts = tuple(_chart(f"{kind} streams", each) for kind, each in found.items())
    claims = [_ahead(kind, each) for kind, each in found.items()]
    if "Real" in found:
        claims.append(_smaller(found["Synthetic"], found["Real"]))
    return Findings(charts, tuple(claims), notes=() if path else (missing(FILE),))


def _first(contest: Contest) -> float:
    return min(float(rows[TS][0].as_py()) for rows in contest.tuples.values()) / MICROS


def _span(contest: Contest) -> float:
    last = max(float(rows[TS][-1].as_py()) for rows in contest.tuples.values())
    return last / MICROS - _first(contest)


def _chart(title: str, found: OverTime) -> LineChart:
    series = tuple(
        Series(NAMES[rival], "measured", found.seconds, tuple(map(float, counts)))
        for rival, counts in found.counts.items()
    )
    return LineChart(title, Axis("time", "s"), Axis("results so far"), series)


def _ahead(kind: str, found: OverTime) -> Claim:
    """The paper says "significantly" of synthetic data, and of real ones "not by as much"."""
    ends = ", ".join(f"{NAMES[rival]} {counts[-1]:,}" for rival, counts in found.counts.items())
    late = range(_POINTS // 4 - 1, _POINTS)
    checks = {"from a quarter of the time on it is never behind": all(map(found.is_ahead, late))}
    if kind == "Synthetic":
        checks["a tenth more than the next in the end"] = found.lead >= _MORE
    return checked(
        f"{kind} streams: the mesh has the most results",
        paper=_PAPER[kind],
        ours=f"in the end {ends}",
        checks=checks,
    )


def _smaller(synthetic: OverTime, real: OverTime) -> Claim:
    return checked(
        "The lead is smaller on real streams than on synthetic ones",
        paper="not by as much",
        ours=f"{100 * real.lead:.0f} % of the mesh’s results against {100 * synthetic.lead:.0f} %",
        checks={"smaller": real.lead < synthetic.lead},
        reason="These are not the paper’s streams: speeds of four stretches of road differ more "
        "than Poisson’s values with λ = 1 do",
    )


EXPERIMENT = Experiment(
    name="qm-figure-11",
    paper=QM,
    figure="Fig. 11",
    title="More results in the same time",
    question="How many results has each rival by when, if only the mesh can keep up?",
    about=(
        "Above, the ten synthetic streams of Fig. 10 with Poisson’s skew. Below, real ones: speeds "
        "that sensors along Dutch motorways report for each lane, a report a minute, parted by "
        "place into four streams as the paper parts its laboratory’s sensors; the join finds "
        "places at which cars went at the same speed, to the km/h, within ten minutes. (The data "
        "set repeats itself every ten minutes.) The clock is simulated, with the charges of Fig. "
        "10, and so fast that the mesh is busy just all of the time: the others fall behind, and "
        "what waits for them gives its results later."
    ),
    run=_run,
)
