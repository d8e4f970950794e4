"""QM Fig. 12: what larger training sets cost the optimizer, and what they bring."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import mean

from penstock.experiments.frame.chart import Axis, LineChart, Series
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import QM
from penstock.experiments.query_mesh.charged import charged, charged_plan
from penstock.experiments.query_mesh.ten_way import SINGLE, Contest, contest_of, poisson
from penstock.experiments.query_mesh.trained import effort, mesh_by, train
from penstock.plan.mesh_search import MeshSearch, Rounds, Strategy

_STRATEGIES: Mapping[Strategy, str] = {"ii": "II-QM", "sa": "SA-QM"}
_FEW, _MANY = (8, 25, 100), (8, 16, 25, 50, 75, 100)
_STREAMS = (1_000, 20)
"""Tuples/s of each stream, and for how many seconds."""
_SEARCHED = 3
"""Streams whose searches are counted, of ten that are alike."""

Curves = dict[str, dict[int, float]]


def _run(size: Size, progress: Progress) -> Findings:
    sizes = _FEW if size == "quick" else _MANY
    progress(0, len(sizes) + 1)
    contest = contest_of(poisson(*_STREAMS), is_trained=False)
    single = charged(SINGLE, contest).rate
    work: Curves = {name: {} for name in _STRATEGIES.values()}
    rates: Curves = {name: {} for name in _STRATEGIES.values()}
    for done, count in enumerate(sizes):
        progress(done + 1, len(sizes) + 1)
        for strategy, name in _STRATEGIES.items():
            work[name][count] = _work(contest, strategy, count)
            rates[name][count] = _rate(contest, strategy, count) / single
    return Findings(_charts(work, rates), tuple(_claims(work, rates)))


def _work(contest: Contest, strategy: Strategy, count: int) -> float:
    """Training tuples that classifiers are grown from, in one stream’s search."""
    training = list(train(contest, count, seed=1).values())[:_SEARCHED]
    return mean(count * effort(contest.known, each, strategy, "content").trees for each in training)


def _rate(contest: Contest, strategy: Strategy, count: int) -> float:
    how = MeshSearch(search=strategy, start="content", stop=Rounds(1))
    plan = mesh_by(contest.known, train(contest, count, seed=1), how)
    return charged_plan(plan, contest).rate


def _charts(work: Curves, rates: Curves) -> tuple[LineChart, ...]:
    x = Axis("training tuples of a stream")
    effort_axis = Axis("tuples that classifiers are grown from")
    rate_axis = Axis("output rate of the mesh", "single plan: 1", low=0.0)
    return (
        LineChart("Work of the search", x, effort_axis, _series(work)),
        LineChart("What comes of it", x, rate_axis, _series(rates)),
    )


def _series(curves: Curves) -> tuple[Series, ...]:
    return tuple(
        Series(name, "measured", tuple(map(float, points)), tuple(points.values()))
        for name, points in curves.items()
    )


def _claims(work: Curves, rates: Curves) -> list[Claim]:
    grows = {
        f"{name}, {less} to {more} tuples": work[name][less] < work[name][more]
        for name in work
        for less, more in pairwise(work[name])
    }
    ends = ", ".join(
        f"{name} {points[min(points)]:,.0f} to {points[max(points)]:,.0f}"
        for name, points in work.items()
    )
    most = {name: points[max(points)] for name, points in rates.items()}
    return [
        checked(
            "Larger training sets make the search longer, with both strategies",
            paper="search time grows from 8 to 100 tuples",
            ours=f"tuples in classifiers: {ends}",
            checks=grows,
        ),
        checked(
            "A hundred training tuples are enough for a mesh that is better than the single plan",
            paper="the default of all experiments",
            ours=", ".join(f"{name} {rate:.2f} ×" for name, rate in most.items()),
            checks={name: rate > 1.0 for name, rate in most.items()},
            reason="Few sampled tuples have yields of chance, and the mesh found for them is not "
            "trusted",
        ),
    ]


EXPERIMENT = Experiment(
    name="qm-figure-12",
    paper=QM,
    figure="Fig. 12",
    title="More training tuples, longer searches",
    question="What does the size of the training set cost the optimizer, and what does it bring?",
    about=(
        "The ten streams of Fig. 10. A sample of each is condensed, as the paper does, to training "
        "sets of each size: a training tuple stands for 20 sampled ones that are alike, with the "
        "mean of the matches that these found in the windows when they came. A search goes from "
        "its content-driven start until 20 neighbours in a row were no better. Its work is "
        "counted, not timed: every classifier that is grown looks at all training tuples. Below, "
        "the meshes are run on the simulated clock of Fig. 10."
    ),
    run=_run,
)
