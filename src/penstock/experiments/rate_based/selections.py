"""V&N Fig. 1: two selections in series, one of them slow, in both orders."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.duration import MICROS
from penstock.experiments.frame.chart import Axis, LineChart, Series
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import all_near, checked, figure_text
from penstock.experiments.frame.paper import VN
from penstock.lab.clock import served
from penstock.papers.rate_based import selection_rate

Floats = NDArray[np.float64]

_RATE = 500.0
_PASS = 0.1
_SLOW = 1 / 50
"""Seconds that σ1 takes for a tuple; σ2 takes none."""
_PLANS = {"σ1 first": (_SLOW, 0.0), "σ2 first": (0.0, _SLOW)}
_PAPER = {"σ1 first": 0.5, "σ2 first": 5.0}


@dataclass(frozen=True)
class _Outcome:
    """Results by each second, and tuples that wait before σ1 by then."""

    results: Floats
    waiting: Floats


def _run(size: Size, progress: Progress) -> Findings:
    seconds = 200 if size == "quick" else 2000
    progress(0, 1)
    draw = np.random.default_rng(1)
    ready = np.sort(draw.uniform(0, seconds, round(_RATE * seconds)))
    passes = draw.random((2, len(ready))) < _PASS
    found = {plan: _pass_through(ready, passes, costs, seconds) for plan, costs in _PLANS.items()}
    model = {plan: _foreseen(costs) for plan, costs in _PLANS.items()}
    return Findings(_charts(found, model, seconds), tuple(_claims(found, model, seconds)))


def _pass_through(
    ready: Floats, passes: NDArray[np.bool_], costs: tuple[float, float], seconds: int
) -> _Outcome:
    """Tuples one after another through two selections, each with a server of its own."""
    ends = np.arange(1.0, seconds + 1)
    waiting = np.zeros(seconds)
    for number, cost in enumerate(costs):
        spent = np.cumsum(np.full(len(ready), cost))
        done = served(ready * MICROS, spent) / MICROS
        if cost:
            waiting = _count(ready, ends) - _count(done, ends)
        kept = passes[number]
        ready, passes = done[kept], passes[:, kept]
    return _Outcome(_count(ready, ends), waiting)


def _count(times: Floats, ends: Floats) -> Floats:
    return np.searchsorted(times, ends).astype(np.float64)


def _foreseen(costs: tuple[float, float]) -> float:
    """Results/s by §3.2, one selection after the other."""
    rate = _RATE
    for cost in costs:
        rate = selection_rate(rate, _PASS, cost)
    return rate


def _charts(
    found: dict[str, _Outcome], model: dict[str, float], seconds: int
) -> tuple[LineChart, ...]:
    every = slice(seconds // 20 - 1, None, seconds // 20)
    times = tuple(np.arange(1.0, seconds + 1)[every].tolist())
    results, waiting = [], []
    for plan, outcome in found.items():
        results.append(Series(plan, "measured", times, tuple(outcome.results[every].tolist())))
        results.append(Series(plan, "model", times, tuple(model[plan] * t for t in times)))
        results.append(Series(plan, "paper", times[-1:], (_PAPER[plan] * times[-1],)))
        waiting.append(Series(plan, "measured", times, tuple(outcome.waiting[every].tolist())))
    x = Axis("time", "s")
    return (
        LineChart("Results so far", x, Axis("results"), tuple(results)),
        LineChart("Tuples that wait before σ1", x, Axis("tuples"), tuple(waiting)),
    )


def _claims(found: dict[str, _Outcome], model: dict[str, float], seconds: int) -> list[Claim]:
    rates = {plan: float(outcome.results[-1]) / seconds for plan, outcome in found.items()}
    waits = {plan: float(outcome.waiting[-1]) for plan, outcome in found.items()}
    return [
        all_near("Output rates by the model", paper=_PAPER, ours=model, within=1e-9, unit="/s"),
        _by_cardinalities(),
        all_near("Output rates when run", paper=_PAPER, ours=rates, within=0.15, unit="/s"),
        checked(
            "With the slow selection first, tuples that wait grow and grow; else they do not",
            paper="ever-increasing against none",
            ours=", ".join(f"{plan}: {count:,.0f} wait" for plan, count in waits.items()),
            checks={
                "nine in ten of all wait before the slow one": waits["σ1 first"]
                > 0.85 * _RATE * seconds,
                "hardly any where it comes last": waits["σ2 first"] < 0.01 * _RATE * seconds,
            },
        ),
    ]


def _by_cardinalities() -> Claim:
    """The costs by cardinalities, |I|·c + |I|·f·c′, of an endless input and of a second of it."""
    endless, second = (
        {plan: size * (first + _PASS * then) for plan, (first, then) in _PLANS.items()}
        for size in (math.inf, _RATE)
    )
    costs = list(endless.values())
    return checked(
        "Cardinalities cannot tell the two orders apart for an endless input",
        paper="both infinite, so equal",
        ours=", ".join(f"{plan} {_seconds(cost)}" for plan, cost in endless.items())
        + "; for one second of input "
        + ", ".join(f"{plan} {_seconds(cost)}" for plan, cost in second.items()),
        checks={"both are infinite": costs[0] == costs[1] == math.inf},
    )


def _seconds(cost: float) -> str:
    return "∞" if math.isinf(cost) else f"{figure_text(cost)} s"


EXPERIMENT = Experiment(
    name="vn-figure-1",
    paper=VN,
    figure="Fig. 1",
    title="A slow selection comes last",
    question="Does the order of two selections matter that let the same part of the input pass?",
    about=(
        "500 tuples a second go through two selections, each of which lets one in ten pass. σ1 "
        "handles 50 tuples a second, σ2 any number. A cost by cardinalities cannot tell the two "
        "orders apart for an endless input; by rates one gives ten times the output of the other. "
        "Random tuples are passed one by one through two servers of the laboratory’s simulated "
        "clock. With σ2 first, σ1 gets exactly as much as it can handle, so that a few tuples wait."
    ),
    run=_run,
    model="paper",
)
