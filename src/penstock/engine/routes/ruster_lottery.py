"""The lottery: in what order rusters take the operators of an uncertain stage (QM §5.4).

Which operator is next is drawn for each hop. A batch has a pool of draws for each route, and every
ruster takes one of them: what was learned goes into the draws of the next batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from penstock.engine.routes.screening import SECONDS_A_ROW, declared_seconds
from penstock.engine.wire.facts import Fact, OperatorFlow, of_kind
from penstock.plan.mesh import MeshJoin, MeshRoute, Operator, Screen

DECAY = 0.8
"""The weight of a batch's counts in the next: an order is settled in ten batches, and left again
in as many when the data changes."""
SHARPNESS = 8.0
"""An order that costs a tenth less gets twice the tickets, one that costs half 256 times as many.
Uncertain orders differ by little: what is rarely drawn must still be seen now and then."""
DRAWS = 4
"""The orders of an uncertain route that a batch's rusters choose among. Those that differ are sent
and probed by themselves, which takes as much as another route."""
_Key = tuple[str, int, str]


@dataclass
class RusterLottery:
    """Draws orders, and learns from what went into the operators and came out."""

    went_in: dict[_Key, float] = field(default_factory=dict)
    came_out: dict[_Key, float] = field(default_factory=dict)

    def draws(self, plan: MeshJoin, batch: int) -> dict[str, tuple[tuple[MeshRoute, ...], ...]]:
        """By driver and route, the orders that were drawn for this batch; of drivers all of whose
        routes are certain there are none."""
        rng = Random(batch)
        return {
            mesh.driver: tuple(
                tuple(self._drawn(mesh.driver, number, route, rng) for _ in range(_draws_of(route)))
                for number, route in enumerate(mesh.routes)
            )
            for mesh in plan.meshes
            if not all(route.is_certain for route in mesh.routes)
        }

    def learn(self, facts: Iterable[Fact]) -> None:
        """Add what a batch has told, and let what was known before fade."""
        for counts in (self.went_in, self.came_out):
            for key in counts:
                counts[key] *= DECAY
        for fact in of_kind(facts, OperatorFlow):
            key = (fact.driver, fact.route, fact.operator)
            self.went_in[key] = self.went_in.get(key, 0.0) + fact.went_in
            self.came_out[key] = self.came_out.get(key, 0.0) + fact.passed

    def _drawn(self, driver: str, number: int, route: MeshRoute, rng: Random) -> MeshRoute:
        drawn = [self._order(driver, number, stage, rng) for stage in route.stages]
        return MeshRoute(tuple((each,) for stage in drawn for each in stage))

    def _order(
        self, driver: str, route: int, stage: tuple[Operator, ...], rng: Random
    ) -> tuple[Operator, ...]:
        if len(stage) == 1:
            return stage
        left = [_Entry.of(each, self._gives(driver, route, each)) for each in map(_by_key, stage)]
        order = []
        while left:
            winner = rng.choices(left, weights=[_tickets(each, left) for each in left])[0]
            left.remove(winner)
            order.append(winner.operator)
        return tuple(order)

    def _gives(self, driver: str, route: int, operator: Operator) -> float:
        """Rows that come out for one that goes in: one, as long as nothing is known."""
        key = (driver, route, _name(operator))
        return (self.came_out.get(key, 0.0) + 1.0) / (self.went_in.get(key, 0.0) + 1.0)


@dataclass(frozen=True)
class _Entry:
    """An operator in a draw: seconds a row, and rows that it gives for one."""

    operator: Operator
    seconds: float
    gives: float

    @classmethod
    def of(cls, operator: Operator, gives: float) -> _Entry:
        if isinstance(operator, Screen):
            return cls(operator, declared_seconds(operator.condition), gives)
        return cls(operator, SECONDS_A_ROW, gives)

    @property
    def rank(self) -> float:
        """Growth of the rows for a second's work: what has the least goes first."""
        return (self.gives - 1.0) / self.seconds


def _draws_of(route: MeshRoute) -> int:
    return 1 if route.is_certain else DRAWS


def _tickets(first: _Entry, entries: Sequence[_Entry]) -> float:
    """The more, the less the stage costs if this operator goes first and the others by rank."""
    others = sorted((each for each in entries if each is not first), key=lambda each: each.rank)
    rows, seconds = 1.0, 0.0
    for entry in (first, *others):
        seconds += rows * entry.seconds
        rows *= entry.gives
    return float(seconds**-SHARPNESS)


def _by_key(operator: Operator) -> Operator:
    """A probe that is free to come before or after others: by key, if it then has one."""
    return operator if isinstance(operator, Screen) else replace(operator, method="sorted")


def _name(operator: Operator) -> str:
    return str(operator.condition) if isinstance(operator, Screen) else operator.target
