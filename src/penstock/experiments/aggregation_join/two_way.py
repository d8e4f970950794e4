"""T&L Fig. 6 and 7: two streams, by hash and by nested loops."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from penstock.experiments.aggregation_join.setting import costs_of
from penstock.experiments.aggregation_join.swept import sweep_findings
from penstock.experiments.aggregation_join.varied import Panels, Sweep, Sweeps
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment
from penstock.experiments.frame.judging import checked, figure_text
from penstock.experiments.frame.paper import TL
from penstock.papers.aggregation_join import Stream
from penstock.plan.multiway import Method

FIRST, SECOND = Stream(300, 5000, 150, 0.1), Stream(300, 5000, 1, 0.1)
_TWO = (FIRST, SECOND)
POWERS = tuple(3.0**power for power in range(1, 10))
FEW_POWERS = (3.0, 81.0, 2187.0, 19683.0)
MATCHES = (0.0005, 0.005, 0.05, 0.5)
SWEEPS: Sweeps = {
    "window": Sweep(_TWO, (1e3, 2e3, 3e3, 4e3, 5e3), (1e3, 2e3, 3e3, 5e3)),
    "groups": Sweep(_TWO, POWERS, FEW_POWERS),
    "rate": Sweep(
        (FIRST, Stream(500, 5000, 1, 0.1)), (100, 300, 500, 700, 900), (100.0, 500.0, 900.0)
    ),
    "selectivity": Sweep(_TWO, MATCHES, MATCHES),
}


def _dearer(panels: Panels, method: Method) -> Iterator[Claim]:
    """Nested loops beside hash in the default setting, which the widest window is."""
    if method != "nested":
        return
    nested = {plan: curve[5000.0] for plan, curve in panels["window"].counted.items()}
    hashed = costs_of(_TWO, "hash").counted
    yield checked(
        "Nested loops take more than hash joins",
        paper="higher",
        ours=", ".join(
            f"{plan} {figure_text(nested[plan])} against {figure_text(hashed[plan])} s/s"
            for plan in nested
        ),
        checks={plan: nested[plan] > hashed[plan] for plan in nested},
    )


_run = partial(sweep_findings, SWEEPS, _dearer, None)

ABOUT = (
    "A sum over the second stream, by the groups of the first: 300 tuples a second each, windows "
    "of 5,000 tuples, 150 groups, ten keys. A plan may aggregate either stream, both or none "
    "before the join; EAP10 is the first. The laboratory runs all four over full windows for a "
    "second, tuple by tuple, and counts what it compares, in windows, in aggregation sets and in "
    "chains of groups; every comparison costs 1 µs, since the paper does not print what its own "
    "cost. Dashed is the paper’s model at these prices. Where the text and a caption of the paper "
    "differ, about the second window while the first is varied, we go by the text (5,000)."
)

FIGURE_6 = Experiment(
    name="tl-figure-6",
    paper=TL,
    figure="Fig. 6",
    title="Aggregating before a hash join",
    question="Which streams should be aggregated before a hash join of two?",
    about=ABOUT,
    run=partial(_run, "hash"),
    model="paper",
)
FIGURE_7 = Experiment(
    name="tl-figure-7",
    paper=TL,
    figure="Fig. 7",
    title="Aggregating before nested loops",
    question="Which streams should be aggregated before nested loops over two?",
    about=ABOUT,
    run=partial(_run, "nested"),
    model="paper",
)
