"""Predictions: what the running plan was chosen by, beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from penstock.adapt.figures.sizes import kept_in
from penstock.adapt.figures.steps import inner_names, steps_of
from penstock.engine.reports.parts import InputReport, ModuleReport, OperatorReport, Prediction
from penstock.engine.reports.report import Report
from penstock.optimize.delay.expected import expected_delay
from penstock.optimize.estimate import estimate_of_kept
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem, gain
from penstock.plan.plan import Plan
from penstock.stats.known import Known


@dataclass(frozen=True)
class Predictions:
    """A plan, the figures by which it was chosen, and the seconds between its batches; None where
    all there is gets read."""

    plan: Plan
    known: Known
    trigger: float | None = None

    def told(self, report: Report, **more: Any) -> Report:
        """The report with what was expected beside everything that was measured, and with `more`
        of its fields."""
        return replace(
            report,
            prediction=self.whole,
            inputs={alias: self._input(alias, each) for alias, each in report.inputs.items()},
            operators=tuple(self._operator(each) for each in report.operators),
            modules={name: self._module(name, each) for name, each in report.modules.items()},
            **more,
        )

    @cached_property
    def problem(self) -> Problem:
        """The problem behind the drop boxes, with what is aggregated early."""
        return with_early(self._behind_boxes, self.plan.early)

    @cached_property
    def _behind_boxes(self) -> Problem:
        return self._given.with_flows(tuple(self._kept(flow) for flow in self._given.inputs))

    @cached_property
    def whole(self) -> Prediction:
        found = estimate_of_kept(self._given, self.plan)
        told = found.output_rate if found.changes is None else found.changes
        return Prediction(found.utilization, told, found.state, self._delay(found.utilization))

    def _delay(self, utilization: float) -> float | None:
        """Seconds until the results of the oldest data of a batch are shown."""
        if not self.trigger:
            return None
        found = expected_delay(self._behind_boxes, self.plan, utilization, self.trigger)
        return None if found is None else found.oldest

    @cached_property
    def _given(self) -> Problem:
        """The problem before anything is folded or shed."""
        return Problem(self.plan.query, replace(self.known, query=self.plan.query))

    @cached_property
    def _yields(self) -> Mapping[tuple[str, int, str], float]:
        """Rows out for one row in of each probe."""
        problem = self.problem
        found = {}
        for place, step in steps_of(self.plan).items():
            bound, target = problem.mask(step.bound), problem.mask(step.target)
            more = float(gain(problem.fractions, bound, target))
            found[place] = float(problem.alive[target]) * more
        return found

    @cached_property
    def _sizes(self) -> Mapping[str, float]:
        """Rows in the window of each input, and in each inner join."""
        problem = self.problem
        inner = {
            name: float(problem.alive[problem.mask(members)])
            for name, members in inner_names(self.plan).items()
        }
        return {flow.alias: flow.window for flow in problem.inputs} | inner

    def _kept(self, flow: Flow) -> Flow:
        """What a drop box leaves of a flow: a time window shrinks with it, a ROWS window not."""
        x = self.plan.drops.fraction(flow.alias)
        window = flow.window * (x if flow.shrinks else 1.0)
        return replace(flow, rate=x * flow.rate, raw_rate=x * flow.raw_rate, window=window)

    # Made field by field: `replace` takes ten times as long, and there are dozens in each batch.

    def _input(self, alias: str, each: InputReport) -> InputReport:
        figure = self.known.rates.get(alias)
        predicted = None if figure is None else figure.value
        return InputReport(
            each.tuples, each.shed, each.keep, each.rate, each.arrival_rate, predicted
        )

    def _operator(self, each: OperatorReport) -> OperatorReport:
        if each.kind == "filter":
            figures = self.known.conditions.get(each.operator)
            predicted = None if figures is None else figures.selectivity.value
        else:
            predicted = self._yields.get((each.driver, each.route, each.operator))
        return OperatorReport(**{**vars(each), "predicted": predicted})

    def _module(self, name: str, each: ModuleReport) -> ModuleReport:
        kept = kept_in(name)
        return ModuleReport(each.tuples, each.bytes, self._sizes.get(kept) if kept else None)
