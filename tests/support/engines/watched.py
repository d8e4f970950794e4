"""Runs in one process with somebody who hears of every batch, and of its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.local import LocalRun
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.sources.feed import Feed
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan
from support.engines.runs import Place


@dataclass
class Listener:
    """A supervisor that changes nothing, and keeps the facts of each batch."""

    facts: list[list[Fact]] = field(default_factory=list)

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        return None

    def samples(self, number: int) -> Mapping[str, Draw]:
        return {}

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        self.facts.append(list(facts))
        return report

    def obey(self, order: Order) -> str:
        raise NotImplementedError("nobody gives orders here")

    def close(self) -> None:
        pass


def facts_of_run(plan: Plan, place: Place, partitions: int = 1) -> list[list[Fact]]:
    """The facts of each batch of a run over all there is, as a supervisor hears them."""
    listener = Listener()
    held = Checkpoint(str(place.checkpoint), plan.query, partitions, engine="local", is_given=True)
    feed = Feed(plan.query.sources.values(), held.store)
    pipeline = Pipeline(plan, held, place.sink, supervisor=listener)
    options = RunOptions(sink=place.sink, checkpoint=str(place.checkpoint))
    LocalRun(pipeline, feed, options).available_now()
    return listener.facts
