"""QM Fig. 10: output rates of a mesh and its rivals, and what deciding about routes takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from statistics import median

from penstock.bench.mesh.joins import JoinRun, race
from penstock.experiments.frame.chart import Axis, BarChart, Bars
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.paper import QM
from penstock.experiments.query_mesh.charged import charged
from penstock.experiments.query_mesh.rate_claims import PAPER, RateFigures, overheads, rate_claims
from penstock.experiments.query_mesh.ten_way import NAMES, SINGLE, Contest, both, contest_of
from penstock.plan.mesh import MeshJoin

_RATE = Axis("output rate", "single plan: 1", low=0.0)


@dataclass(frozen=True)
class _Raced:
    """CPU-seconds of each rival: all, and those spent on deciding; medians of rounds."""

    seconds: dict[str, float]
    deciding: dict[str, float]


def _run(size: Size, progress: Progress) -> Findings:
    rounds = 2 if size == "quick" else 5
    found: dict[str, RateFigures] = {}
    for number, data in enumerate(both(size)):
        progress(2 * number, 4)
        contest = contest_of(data)
        work = {rival: charged(rival, contest).rate for rival in NAMES}
        progress(2 * number + 1, 4)
        raced = _raced(contest, rounds)
        found[data.name] = RateFigures(
            _relative(work),
            _relative({rival: 1.0 / seconds for rival, seconds in raced.seconds.items()}),
            {rival: raced.deciding[rival] / raced.seconds[rival] for rival in NAMES},
            _routes(contest),
        )
    poisson, uniform = found.values()
    return Findings(_charts(found), tuple(rate_claims(poisson, uniform)))


def _raced(contest: Contest, rounds: int) -> _Raced:
    """Seconds of this machine; a first round, which loads code, is not counted."""
    runs = [race(contest.plans, contest.tuples, Random(turn)) for turn in range(rounds + 1)][1:]

    def medians(figure: Iterable[tuple[str, float]]) -> dict[str, float]:
        by_rival: dict[str, list[float]] = {rival: [] for rival in NAMES}
        for rival, value in figure:
            by_rival[rival].append(value)
        return {rival: median(values) for rival, values in by_rival.items()}

    pairs: list[tuple[str, JoinRun]] = [pair for turn in runs for pair in turn.items()]
    return _Raced(
        medians((rival, run.seconds) for rival, run in pairs),
        medians((rival, run.deciding) for rival, run in pairs),
    )


def _relative(rates: Mapping[str, float]) -> dict[str, float]:
    return {rival: rate / rates[SINGLE] for rival, rate in rates.items()}


def _routes(contest: Contest) -> tuple[int, ...]:
    plan = contest.plans["mesh"]
    assert isinstance(plan, MeshJoin)
    return tuple(len(mesh.routes) for mesh in plan.meshes)


def _charts(found: Mapping[str, RateFigures]) -> tuple[BarChart, ...]:
    kinds = tuple(found)
    counted = tuple(
        bar
        for rival, name in NAMES.items()
        for bar in (
            Bars(name, "measured", tuple(found[kind].work[rival] for kind in kinds)),
            Bars(name, "paper", tuple(PAPER[kind][rival] for kind in kinds)),
        )
    )
    timed = tuple(
        Bars(name, "measured", tuple(found[kind].cpu[rival] for kind in kinds))
        for rival, name in NAMES.items()
    )
    return (
        BarChart("Output rate, by work on the simulated clock", kinds, _RATE, counted),
        BarChart("Output rate, by CPU-seconds of this machine", kinds, _RATE, timed),
        _overheads(*found.values()),
    )


def _overheads(poisson: RateFigures, uniform: RateFigures) -> BarChart:
    """Fig. 10 c: what the mesh classifies in; what eddies take longer where nothing is to learn."""
    found = overheads(poisson, uniform)
    bars = (
        Bars("overhead", "measured", tuple(100 * part for part in found.values())),
        Bars("overhead", "paper", (2.0, 20.0, None)),
    )
    names = tuple(NAMES[rival] for rival in found)
    axis = Axis("part of the time", "%", low=0.0)
    return BarChart("Deciding about routes, in CPU-seconds of this machine", names, axis, bars)


EXPERIMENT = Experiment(
    name="qm-figure-10",
    paper=QM,
    figure="Fig. 10",
    title="A route for each kind of tuple",
    question="How much more output does a mesh give than a single plan or an eddy?",
    about=(
        "Ten streams with Poisson arrivals, joined on one key in windows of 5 s. Every tuple is of "
        "one of three partitions, which are as frequent as the values 0, 1, and 2 or more of "
        "Poisson’s distribution with λ = 1; which of them is the rare one differs from stream to "
        "stream, so that every partition has a best order of its own. In the uniform data all are "
        "as frequent. Above, the simulated clock charges one unit for an insertion, a bucket or a "
        "row looked at, and a tenth for a test of the classifier or for an operator that an eddy’s "
        "router considers. The tenth is an assumption; with it these figures are the same on every "
        "machine. Below, CPU-seconds of this machine, which need none: there a "
        "probe takes some nanoseconds while all windows lie in its caches."
    ),
    run=_run,
)
