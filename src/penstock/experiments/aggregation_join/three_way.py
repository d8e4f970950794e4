"""T&L Fig. 8 and 9: three streams, by hash and by nested loops."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from penstock.experiments.aggregation_join.setting import costs_of
from penstock.experiments.aggregation_join.swept import sweep_findings
from penstock.experiments.aggregation_join.two_way import FEW_POWERS, MATCHES, POWERS
from penstock.experiments.aggregation_join.varied import Panels, Sweep, Sweeps
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import TL
from penstock.papers.aggregation_join import Stream
from penstock.plan.multiway import Method

_FIRST, _OTHER = Stream(200, 300, 20, 0.1), Stream(200, 300, 1, 0.1)
_THREE = (_FIRST, _OTHER, _OTHER)
_SHOWN = ("LAP", "EAP100", "EAP010", "EAP011", "EAP111")
"""Five of the eight: the second and the third stream are alike."""
SWEEPS: Sweeps = {
    "window": Sweep(_THREE, (100, 150, 200, 250, 300), (100.0, 200.0, 300.0)),
    "groups": Sweep(_THREE, POWERS, FEW_POWERS),
    "rate": Sweep(_THREE, (100, 200, 300, 400, 500, 600), (100.0, 300.0, 600.0)),
    "selectivity": Sweep(_THREE, MATCHES, MATCHES),
}


def _bigger(panels: Panels, method: Method) -> Iterator[Claim]:
    """The gain of the plan that aggregates all, beside that of two of the same streams."""
    three = panels["window"].counted
    gain = three["LAP"][300.0] / three["EAP111"][300.0]
    two = costs_of((_FIRST, _OTHER), method).counted
    with_two = two["LAP"] / two["EAP11"]
    yield checked(
        "Early aggregation gains more in a join of three than of two",
        paper="bigger",
        ours=f"{gain:.3g} × against {with_two:.3g} × of two such streams",
        checks={"more than of two": gain > with_two},
    )


_run = partial(sweep_findings, SWEEPS, _bigger, _SHOWN)

_ABOUT = (
    "As for two streams, with three of 200 tuples a second, windows of 300 tuples, 20 groups of "
    "the first and ten keys that all share; a partial result goes through the third stream’s "
    "window, or its aggregation set, for each partner that it has in the second’s. Of the eight "
    "plans five are drawn, since the second and the third stream are alike; all are judged. In "
    "(b) we take 19,683 groups at the most, which the caption’s power of three is."
)

FIGURE_8 = Experiment(
    name="tl-figure-8",
    paper=TL,
    figure="Fig. 8",
    title="Aggregating before a hash join of three",
    question="Does early aggregation gain more where more streams are joined by hash?",
    about=_ABOUT,
    run=partial(_run, "hash"),
    model="paper",
)
FIGURE_9 = Experiment(
    name="tl-figure-9",
    paper=TL,
    figure="Fig. 9",
    title="Aggregating before nested loops over three",
    question="Does early aggregation gain more where nested loops go over three streams?",
    about=_ABOUT,
    run=partial(_run, "nested"),
    model="paper",
)
