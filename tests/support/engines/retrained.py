"""A supervisor that trains after every batch, and follows whatever mesh that makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.adapt.training.trainer import Trained, Trainer
from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.reports.report import Report
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import Fact
from penstock.errors import PlanError
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.guess import complete
from penstock.stats.statistics import Statistics

EAGER = replace(
    DEFAULT_SETTINGS, training_batches=1, training_pause=1, training_fewest=10, sample_every=1
)
MESHES = PlanOptions(kinds=frozenset({"mesh"}), engine="local")


class Retrained:
    """Follows a mesh by the newest training in every second batch, and the first plan in others."""

    def __init__(self, first: Plan, query: Query, store: Store):
        self._first = first
        # As it was written: the query of a plan may have filters that wait for the joins.
        self._query = query
        self._trainer = Trainer(self._query, settings=EAGER, store=store)
        self._by: Trained = {}

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        if number % 2 or not self._by:
            return self._first
        known = complete(self._query, Statistics(self._query, training=dict(self._by)))
        with suppress(PlanError):
            return decide(known, MESHES).plan
        return None

    def samples(self, number: int) -> Mapping[str, Draw]:
        return self._trainer.samples()

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        self._trainer.observe(report.operators, facts, plan, self._by)
        self._by = self._trainer.training(Statistics(self._query))[0]
        return report

    def obey(self, order: Order) -> str:
        return ""

    def close(self) -> None:
        self._trainer.close()
