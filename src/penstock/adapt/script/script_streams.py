"""The supervisor of a script: each query is planned again by its own figures, all are shed for one
delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from penstock.adapt.script.script_shedder import ScriptShedder
from penstock.adapt.supervisor import StreamSupervisor
from penstock.engine.control.order import Order
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.errors import UsageError
from penstock.plan.drops import DropBoxes
from penstock.plan.plan import Plan


class ScriptStreams:
    """Follows the streams of one script; its pipeline calls it between batches.

    The work of the queries adds up and none of it depends on how another is planned, so the least
    of each is the least of all. Queries that take the combinations of others have no plan to choose
    and are not in `members`.
    """

    def __init__(
        self, members: Mapping[str, StreamSupervisor], shedder: ScriptShedder | None = None
    ):
        self.members = members
        self._boxes: dict[str, DropBoxes] = {}
        self._shedder = shedder

    @property
    def sheds(self) -> frozenset[str]:
        """The queries whose drop boxes it may set while they run."""
        return frozenset() if self._shedder is None else self._shedder.led

    def next_plans(self, running: Mapping[str, Plan], number: int) -> dict[str, Plan]:
        """The plans of queries that are to follow other ones from batch `number` on."""
        found = {n: each.next_plan(running[n], number) for n, each in self.members.items()}
        taking, self._boxes = self._boxes, {}
        found |= {name: replace(running[name], drops=drops) for name, drops in taking.items()}
        return {name: plan for name, plan in found.items() if plan is not None}

    def observe(
        self, report: Report, facts: Mapping[str, Sequence[Fact]], plans: Mapping[str, Plan]
    ) -> Report:
        """Take in a batch that is final, and tell what it is measured against."""
        told = {
            name: each.observe(_own(report, name), facts[name], plans[name])
            for name, each in self.members.items()
        }
        report = replace(report, members={**report.members, **told})
        return report if self._shedder is None else self._shed(self._shedder, report, plans)

    def obey(self, order: Order) -> str:
        """Do what an order about plans says, in all queries."""
        if order.kind == "replan":
            return [each.obey(order) for each in self.members.values()][-1]
        if order.kind == "shed" and self._shedder is not None:
            return self._shedder.obey(order.value)
        raise UsageError(
            f"nobody can {order.kind} in this run", hint="see docs/following.md, on scripts"
        )

    def close(self) -> None:
        """End the planning beside the run."""
        for each in self.members.values():
            each.close()
        if self._shedder is not None:
            self._shedder.close()

    def _shed(self, shedder: ScriptShedder, report: Report, plans: Mapping[str, Plan]) -> Report:
        """Have the shedder set the drop boxes of the next batch."""
        known = {name: each.knowledge.known for name, each in self.members.items()}
        found = shedder.next_boxes(report, known, plans)
        if found is None:
            return report
        boxes, change = found
        for name, drops in boxes.items():
            if name in self.members:
                self.members[name].set_boxes(drops)
            else:
                self._boxes[name] = drops
        return report if change is None else replace(report, changes=(*report.changes, change))


def _own(whole: Report, name: str) -> Report:
    """The report of a query, with what batches measure of all queries together."""
    mine = whole.members[name]
    return replace(mine, at=whole.at, busy=whole.busy, delay=whole.delay, backlog=whole.backlog)
