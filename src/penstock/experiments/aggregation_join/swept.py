"""T&L Fig. 6–9: the findings of one figure, panel after panel, and what is claimed of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.experiments.aggregation_join.trends import trend_claims
from penstock.experiments.aggregation_join.varied import Panels, Sweeps, chart_of, run_sweeps
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.plan.multiway import Method

Claims = Callable[[Panels, Method], Iterable[Claim]]


def sweep_findings(
    sweeps: Sweeps,
    further: Claims,
    shown: tuple[str, ...] | None,
    method: Method,
    size: Size,
    progress: Progress,
) -> Findings:
    """The panels of a figure with the plans that are `shown`, or all; the claims about all figures,
    and `further` ones about this."""
    panels = run_sweeps(sweeps, method, size, progress)
    claims = (*trend_claims(panels, method), *further(panels, method))
    charts = tuple(
        chart_of(varied, found, shown or tuple(found.model)) for varied, found in panels.items()
    )
    return Findings(charts, claims)
