"""The supervisor of a run: it hears of every batch, and may give the next ones another plan."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan

_LOG = logging.getLogger(__name__)
_MOST_FAULTS = 3
"""Faults after which a supervisor is asked no more: what goes wrong three times goes on so."""

Answer = TypeVar("Answer")


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


class ScriptSupervisor(Protocol):
    """The same for a script: called between its batches, about all of its queries at once. What is
    of one query goes by its name."""

    @property
    def sheds(self) -> frozenset[str]:
        """The queries whose drop boxes it may set while they run."""

    def next_plans(self, running: Mapping[str, Plan], number: int) -> Mapping[str, Plan]:
        """The plans, with their drop boxes, of the queries that are to follow other ones from batch
        `number` on."""

    def observe(
        self, report: Report, facts: Mapping[str, Sequence[Fact]], plans: Mapping[str, Plan]
    ) -> Report:
        """Hear of a batch that is final; the report, with predictions, figures and changes in those
        of its members."""

    def obey(self, order: Order) -> str:
        """Do what an order says; the answer in words, or a PenstockError."""

    def close(self) -> None:
        """The run has ended."""


class _Trying:
    """Faults that do not end the run: it goes on with what it follows.

    The first few are warnings; after them nobody is asked any more.
    """

    def __init__(self) -> None:
        self._faults = 0

    def attempt(self, ask: Callable[[], Answer], otherwise: Answer) -> Answer:
        """What is answered, or something else after a fault."""
        if self._faults >= _MOST_FAULTS:
            return otherwise
        try:
            return ask()
        except Exception:
            self._faults += 1
            is_last = self._faults == _MOST_FAULTS
            what = "the streams are followed no more" if is_last else "the query goes on as it does"
            _LOG.warning("a fault in following the streams: %s", what, exc_info=True)
            return otherwise


class Guarded:
    """A supervisor whose faults do not end the run."""

    def __init__(self, supervisor: Supervisor):
        self._supervisor = supervisor
        self._try = _Trying().attempt

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        """The plan that batch `number` is to follow; None for the same."""
        return self._try(lambda: self._supervisor.next_plan(running, number), None)

    def samples(self, number: int) -> Mapping[str, Draw]:
        """Samples that batch `number` is to draw."""
        return self._try(lambda: self._supervisor.samples(number), {})

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        """Hear of a batch that is final."""
        return self._try(lambda: self._supervisor.observe(report, facts, plan), report)

    def obey(self, order: Order) -> str:
        """Do what an order says: whoever gave it is told of a fault."""
        return self._supervisor.obey(order)

    def close(self) -> None:
        """The run has ended."""
        self._try(self._supervisor.close, None)


class GuardedScript:
    """The supervisor of a script whose faults do not end the run."""

    def __init__(self, supervisor: ScriptSupervisor):
        self._supervisor = supervisor
        self._try = _Trying().attempt
        self.sheds = supervisor.sheds

    def next_plans(self, running: Mapping[str, Plan], number: int) -> Mapping[str, Plan]:
        """The plans of the queries that are to follow other ones."""
        return self._try(lambda: self._supervisor.next_plans(running, number), {})

    def observe(
        self, report: Report, facts: Mapping[str, Sequence[Fact]], plans: Mapping[str, Plan]
    ) -> Report:
        """Hear of a batch that is final."""
        return self._try(lambda: self._supervisor.observe(report, facts, plans), report)

    def obey(self, order: Order) -> str:
        """Do what an order says: whoever gave it is told of a fault."""
        return self._supervisor.obey(order)

    def close(self) -> None:
        """The run has ended."""
        self._try(self._supervisor.close, None)
