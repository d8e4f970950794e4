"""V&N Fig. 12 to 15: three plans of a five-way join, and where the fast streams should stand."""

from __future__ import annotations

from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked, ranked
from penstock.experiments.frame.paper import VN
from penstock.experiments.rate_based.complex_plans import FIVE, FIVE_WAY
from penstock.experiments.rate_based.curves import SERVERS, PlanCurves, alike, run_plans, time_of

_DEEP, _LEAVES, _SPREAD = FIVE_WAY
_ORDER = (_SPREAD, _LEAVES, _DEEP)
_FIRST = 20_000
"""Results for which the paper has Left Deep ahead of Fast Leaves; so there are at least as many."""
_LOOKS = (5_000, 10_000, _FIRST)
_UNKNOWN = (
    "The paper gives neither the cost of handling a tuple nor the number of results in all, which "
    "is 20,000 at the least. With our 80,000 the joins of A, B and C give Left Deep 400,000 rows "
    "to take through two joins more, which the bushy plans never have"
)


def _run(size: Size, progress: Progress) -> Findings:
    curves = run_plans(FIVE_WAY, FIVE, size, progress)
    charts = (
        curves.chart("Until the last result (Fig. 12 and 13)"),
        curves.chart("The first 20,000 results (Fig. 14 and 15)", _FIRST),
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
        reason=_UNKNOWN,
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
            ours=_at_looks(curves),
            checks={
                f"{how} at {count:,} results": times[_DEEP] < times[_LEAVES]
                for count in _LOOKS
                for how, times in _times_at(curves, count).items()
            },
            reason=_UNKNOWN,
        ),
    ]


def _times_at(curves: PlanCurves, count: int) -> dict[str, dict[str, float]]:
    """When each plan has so many results, foreseen and measured."""
    return {
        "foreseen": {name: time_of(curve, count) for name, curve in curves.model.items()},
        "measured": {name: float(times[count - 1]) for name, times in curves.found.items()},
    }


def _at_looks(curves: PlanCurves) -> str:
    measured = {count: _times_at(curves, count)["measured"] for count in _LOOKS}
    return "; ".join(
        f"{count:,} results measured at {times[_DEEP]:.0f} s (Left Deep), "
        f"{times[_LEAVES]:.0f} s (Fast Leaves)"
        for count, times in measured.items()
    )


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
    "the top, Fast Leaves at the leaves, Evenly Spread in the middle. The paper does not say how "
    "many results there are, but speaks of the first 20,000. The selectivities as printed would "
    "give 5·10⁷, a tenth of them, as in the three-way experiment, 5,000; so we take a fifth, which "
    "gives 80,000.",
    run=_run,
)
