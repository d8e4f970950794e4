"""T&L Fig. 10: settings in each of which another of the four plans is the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.experiments.aggregation_join.setting import Streams, costs_of
from penstock.experiments.aggregation_join.varied import Curves, Found, chart_of
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked, figure_text
from penstock.experiments.frame.paper import TL
from penstock.papers.aggregation_join import Stream

_SMALL = Stream(500, 500, 1, 0.01)
_LARGE = Stream(500, 2000, 150, 0.1)
_GROUPED = replace(_SMALL, groups=1500)
SETTINGS: Mapping[str, Streams] = {
    "LAP": (_GROUPED, _GROUPED),
    "EAP10": (_SMALL, _GROUPED),
    "EAP01": (_GROUPED, _SMALL),
    "EAP11": (_LARGE, _LARGE),
}
"""By the plan that should be the best. The paper’s text has those of EAP01 and EAP11 only."""
_RATES = (100.0, 200.0, 300.0, 400.0, 500.0)
_FEW = (100.0, 500.0)


def _run(size: Size, progress: Progress) -> Findings:
    rates = _FEW if size == "quick" else _RATES
    charts, claims = [], []
    for number, (winner, streams) in enumerate(SETTINGS.items()):
        found = Found({}, {})
        for done, rate in enumerate(rates):
            progress(number * len(rates) + done, len(SETTINGS) * len(rates))
            _add(found, rate, (replace(streams[0], rate=rate), streams[1]))
        chart = chart_of("rate", found, tuple(found.model))
        charts.append(replace(chart, title=f"{winner} should be the best"))
        claims += [_best(winner, found.model, "model"), _best(winner, found.counted, "counted")]
    return Findings(tuple(charts), tuple(claims))


def _add(found: Found, rate: float, streams: Streams) -> None:
    costs = costs_of(streams, "nested")
    for curves, seconds in ((found.model, costs.model), (found.counted, costs.counted)):
        for plan, cost in seconds.items():
            curves.setdefault(plan, {})[rate] = cost


def _best(winner: str, curves: Curves, how: str) -> Claim:
    rates = curves[winner]
    last = max(rates)
    least = {rate: min(curves, key=lambda plan: curves[plan][rate]) for rate in rates}
    shown = ", ".join(f"{plan} {figure_text(curve[last])}" for plan, curve in curves.items())
    return checked(
        f"{winner} is the best in its showcase ({how})",
        paper=winner,
        ours=f"at {last:.0f} tuples/s: {shown} s/s",
        checks={f"at {rate:.0f} tuples/s": plan == winner for rate, plan in least.items()},
    )


EXPERIMENT = Experiment(
    name="tl-figure-10",
    paper=TL,
    figure="Fig. 10",
    title="Each plan is the best somewhere",
    question="Is there a setting for each plan in which it is the best?",
    about=(
        "Nested loops over two streams, the second of 500 tuples a second, the first of 100 to "
        "500. A stream that has many groups for its window does not fold, and aggregating it early "
        "only costs. The paper’s text gives the settings of EAP01 (1,500 groups and none, 100 "
        "keys, windows of 500) and of EAP11 (150 groups each, ten keys, windows of 2,000). For "
        "EAP10 we take the mirror image of the first, for LAP 1,500 groups in both streams; "
        "there the model is far above what is counted, because it hashes the query’s groups by "
        "those of the first stream alone, and sets aside room for pairs of groups that never meet."
    ),
    run=_run,
    model="paper",
)
