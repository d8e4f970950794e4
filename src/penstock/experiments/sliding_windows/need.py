"""A&N Fig. 7: how often another plan than that of least utilization is better to shed from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from penstock.experiments.frame.chart import Axis, LineChart
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked, near
from penstock.experiments.frame.paper import AN
from penstock.experiments.sliding_windows.resources import (
    RESOURCES,
    SAME,
    SETTING,
    ByLevel,
    gains_by_level,
    level_line,
)


def _run(size: Size, progress: Progress) -> Findings:
    gains = gains_by_level(size, progress)
    share = {n: 100 * float(np.mean(np.array(g) > SAME)) for n, g in gains.items()}
    y = Axis("queries with a better plan", "%", low=0.0, high=103.0)
    lines = level_line("queries", share, {1.0: 0.0, 0.6: 50.0})
    chart = LineChart("Queries whose best plan is another", RESOURCES, y, lines)
    return Findings((chart,), (_rises(share), _half(share), _flat(share)))


def _rises(share: ByLevel) -> Claim:
    values = list(share.values())
    return checked(
        "The less there is, the more queries need another plan, and none does at saturation",
        paper="almost linear from 0",
        ours=_said(share),
        checks={
            "none at 100 %": values[0] == 0.0,
            "never fewer with less": all(a <= b for a, b in pairwise(values)),
        },
    )


def _half(share: ByLevel) -> Claim:
    levels = sorted(share)
    crossing = float(np.interp(-50.0, [-share[n] for n in levels], [100 * n for n in levels]))
    return near(
        "From about 60 % of the resources on, another plan is more likely better than not",
        paper=60.0,
        ours=crossing,
        within=0.15,
        unit=" %",
    )


def _flat(share: ByLevel) -> Claim:
    low = {level: s for level, s in share.items() if level < 0.3}
    return checked(
        "Below 30 % another plan is almost certainly better",
        paper="almost certain",
        ours=_said(low),
        checks={f"nine in ten at {100 * n:.0f} %": s >= 90 for n, s in low.items()},
    )


def _said(share: ByLevel) -> str:
    return ", ".join(f"{100 * n:.0f} %: {s:.0f} %" for n, s in share.items())


EXPERIMENT = Experiment(
    name="an-figure-7",
    paper=AN,
    figure="Fig. 7",
    title="Most queries need another plan once half of the resources are gone",
    question="How often is the plan of least utilization not the best one to shed from?",
    about=SETTING
    + "For each query all 60 left-deep plans, products included, are shed from as well as can be, "
    "and the best is compared with the plan of least utilization.",
    run=_run,
    model="paper",
)
