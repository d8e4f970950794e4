"""V&N Fig. 12 to 15: three plans of a five-way join, and where the fast streams should stand."""

from __future__ import annotations

from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked, ranked
from penstock.experiments.frame.paper import VN
from penstock.experiments.rate_based.complex_plans import FIVE, FIVE_WAY
from penstock.experiments.rate_based.curves import SERVERS, PlanCurves, alike, run_plans

_DEEP, _LEAVES, _SPREAD = FIVE_WAY
_ORDER = (_SPREAD, _LEAVES, _DEEP)


def _run(size: Size, progress: Progress) -> Findings:
    curves = run_plans(FIVE_WAY, FIVE, size, progress)
    total = min(curve.total for curve in curves.model.values())
    charts = (
        curves.chart("Until the last result (Fig. 12 and 13)"),
        curves.chart("The first tenth (Fig. 14 and 15)", 0.1 * total),
    )
    return Findings(charts, (*_end_claims(curves), *_early_claims(curves), alike(curves)))


def _end_claims(curves: PlanCurves) -> list[Claim]:
    foreseen, measured = curves.foreseen_times(1.0), curves.measured_times(1.0)
    claims = [
        ranked(
            f"All results: Evenly Spread first, Left Deep last ({how})",
            paper=_ORDER,
            ours=ends,
            unit=" s",
        )
        for how, ends in (("foreseen, Fig. 12", foreseen), ("measured, Fig. 13", measured))
    ]
    level = checked(
        "Left Deep and Fast Leaves end at about the same time (measured)",
        paper="comparable",
        ours=f"{measured[_DEEP]:.0f} s and {measured[_LEAVES]:.0f} s",
        checks={"within 20 %": measured[_DEEP] <= 1.2 * measured[_LEAVES]},
    )
    return [*claims, level]


def _early_claims(curves: PlanCurves) -> list[Claim]:
    by_how = {"foreseen": curves.foreseen_times, "measured": curves.measured_times}
    early = {how: times(0.05) for how, times in by_how.items()}
    ahead = {
        f"{how} at {100 * share:.0f} %": _first(times(share)) == _SPREAD
        for how, times in by_how.items()
        for share in (0.05, 0.1, 0.25, 0.5, 0.75)
    }
    return [
        checked(
            "Evenly Spread is ahead from the initial stages on",
            paper="from the initial stages",
            ours=_said(early, _ORDER),
            checks=ahead,
        ),
        checked(
            "At first Left Deep is marginally ahead of Fast Leaves (Fig. 14 and 15)",
            paper="for the first 20,000 results",
            ours=_said(early, (_DEEP, _LEAVES)),
            checks={how: by[_DEEP] < by[_LEAVES] for how, by in early.items()},
            reason="The paper gives neither the cost of handling a tuple nor the number of results "
            "in all; with ours, Left Deep falls behind early, foreseen and measured alike",
        ),
    ]


def _first(times: dict[str, float]) -> str:
    return min(times, key=lambda name: times[name])


def _said(early: dict[str, dict[str, float]], names: tuple[str, ...]) -> str:
    return "; ".join(
        f"5 % of the results {how} at " + ", ".join(f"{by[n]:.0f} s ({n})" for n in names)
        for how, by in early.items()
    )


EXPERIMENT = Experiment(
    name="vn-figure-12-15",
    paper=VN,
    figure="Fig. 12 to 15",
    title="No simple rule for fast streams",
    question="Should the fastest streams be joined first, last, or in between?",
    about=SERVERS
    + "Five streams of 5 to 100 thousand tuples, every 20 to 2 ms. Left Deep keeps the fastest at "
    "the top, Fast Leaves at the leaves, Evenly Spread in the middle. Selectivities are a tenth of "
    "the printed ones, as in the three-way experiment.",
    run=_run,
)
