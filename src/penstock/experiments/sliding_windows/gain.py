"""A&N Fig. 8 and 9: what the best plan to shed from gains over that of least utilization."""

from __future__ import annotations

from collections.abc import Sequence

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
    mean = {n: 100 * float(np.mean(g)) for n, g in gains.items()}
    of_those = {n: 100 * _mean_above(g) for n, g in gains.items() if n < 1.0}
    most = {n: 100 * max(g) for n, g in gains.items() if n < 1.0}
    charts = (_average_chart(mean), _apart_chart(mean, of_those, most))
    return Findings(charts, (*_size_claims(mean), _dilution(mean, of_those), _spread(mean, most)))


def _average_chart(mean: ByLevel) -> LineChart:
    title = "Average gain of the best plan over that of least utilization"
    lines = level_line("all queries", mean, {0.6: 4.0, 0.01: 800.0})
    return LineChart(title, RESOURCES, Axis("gain", "%"), lines)


def _apart_chart(mean: ByLevel, of_those: ByLevel, most: ByLevel) -> LineChart:
    lines = (
        *level_line("all queries", {n: mean[n] for n in most}),
        *level_line("those that gain", of_those),
        *level_line("the most", most),
    )
    return LineChart("Averages and the most", RESOURCES, Axis("gain", "%", is_log=True), lines)


def _mean_above(gains: Sequence[float]) -> float:
    above = [gain for gain in gains if gain > SAME]
    return float(np.mean(above)) if above else 0.0


def _size_claims(mean: ByLevel) -> list[Claim]:
    return [
        near(
            "At 60 % of the resources the average gain is about 4 %",
            paper=4.0,
            ours=mean[0.6],
            within=0.35,
            unit=" %",
        ),
        near(
            "At 1 % of the resources the gain is almost eight-fold",
            paper=800.0,
            ours=mean[0.01],
            within=0.2,
            unit=" %",
        ),
    ]


def _dilution(mean: ByLevel, of_those: ByLevel) -> Claim:
    shown = ", ".join(
        f"{100 * n:.0f} %: {mean[n]:.3g} of {of_those[n]:.3g} %" for n in (0.9, 0.5, 0.3)
    )
    return checked(
        "From 50 % down queries that do not gain no longer dilute the average",
        paper="no notable dilution",
        ours=shown,
        checks={
            f"at {100 * n:.0f} % two thirds at least": mean[n] >= of_those[n] / 1.5
            for n in (0.5, 0.4, 0.3, 0.2, 0.1)
        },
        reason="At 50 % about four in ten queries do not gain in our draw",
    )


def _spread(mean: ByLevel, most: ByLevel) -> Claim:
    ratios = [most[n] / mean[n] for n in (0.9, 0.5, 0.1)]
    return checked(
        "The most that a query gains comes nearer to the average as resources fall",
        paper="the ratio of maximum to average falls",
        ours=", ".join(f"{r:.3g} ×" for r in ratios) + " at 90, 50, 10 %",
        checks={"it falls from 90 to 50 to 10 %": ratios == sorted(ratios, reverse=True)},
    )


EXPERIMENT = Experiment(
    name="an-figure-8-9",
    paper=AN,
    figure="Fig. 8 and 9",
    title="What the other plan gains",
    question="How much is lost if one sheds from the plan of least utilization?",
    about=SETTING
    + "The gain is the best plan’s output over that of the plan of least utilization, less one; "
    "below, only over those queries that gain, and the most that any does.",
    run=_run,
    model="paper",
)
