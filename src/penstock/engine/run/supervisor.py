"""The supervisor of a run: it hears of every batch, and may give the next ones another plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan


class Supervisor(Protocol):
    """Called by the pipeline between batches, in the thread that runs them: it must be quick."""

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        """The plan, with its drop boxes, that batch `number` is to follow; None for the same."""

    def samples(self, number: int) -> Mapping[str, Draw]:
        """Samples that batch `number` is to draw of new tuples, by alias; mostly none."""

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        """Hear of a batch that is final; the report with predictions, figures and changes."""

    def obey(self, order: Order) -> str:
        """Do what an order says; the answer in words, or a PenstockError."""

    def close(self) -> None:
        """The run has ended."""
