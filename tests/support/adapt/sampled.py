"""Runs that draw samples, with whatever plan follows next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from penstock.adapt.training.reservoir import Reservoir
from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.local import LocalRun
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.sources.feed import Feed
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.wire.facts import Fact, InputSample
from penstock.plan.plan import Plan
from support.engines.runs import Place


class Sampling:
    """A supervisor that keeps a sample, and lets a function choose each next plan."""

    def __init__(
        self, reservoir: Reservoir, choose: Callable[[Plan, int], Plan | None] | None = None
    ):
        self.reservoir = reservoir
        self.choose = choose or (lambda running, number: None)
        self.drawn: list[Sequence[InputSample]] = []

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        return self.choose(running, number)

    def samples(self, number: int) -> Mapping[str, Draw]:
        return self.reservoir.wanted()

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        self.drawn.append([fact for fact in facts if isinstance(fact, InputSample)])
        self.reservoir.take(facts)
        return report

    def obey(self, order: Order) -> str:
        return ""

    def close(self) -> None: ...


def run_sampling(
    plan: Plan, place: Place, supervisor: Sampling, *, drain: bool = True, partitions: int = 1
) -> list[Report]:
    """Run in this process over all there is; the reports of the batches."""
    held = Checkpoint(str(place.checkpoint), plan.query, partitions, engine="local", is_given=True)
    pipeline = Pipeline(plan, held, place.sink, supervisor=supervisor)
    feed = Feed(plan.query.sources.values(), held.store)
    options = RunOptions(sink=place.sink, checkpoint=str(place.checkpoint))
    run = LocalRun(pipeline, feed, options)
    run.available_now(drain=drain)
    return list(run.reports)
