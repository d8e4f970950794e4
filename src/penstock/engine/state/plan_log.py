"""The plan log: the plan and the drop boxes that batches follow, written before a batch uses them.

Results do not depend on the plan, but on what is shed. So whatever a batch sheds by is in the
checkpoint first, and a batch that is run again after a crash sheds the same tuples.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from penstock.engine.state.store import RESTORE, Store
from penstock.errors import CheckpointError
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan

_FOLDER = "plans"
_VERSION = 1


@dataclass(frozen=True)
class PlanRecord:
    """What the batches from `batch` on follow, up to the next record: a plan's text, the drop
    boxes, and why."""

    batch: int
    plan: str
    drops: DropBoxes = NO_DROPS
    reason: str = ""

    def is_of(self, plan: Plan) -> bool:
        """Whether a plan is this one, with the same drop boxes."""
        return (self.plan, self.drops) == (render_plan(plan), plan.drops)


class PlanLog:
    """The records of one checkpoint, `plans/NNN.json`.

    `begun` is the batch that an earlier run had begun and not made final, if there is one.
    """

    def __init__(self, store: Store, begun: int | None = None):
        self._store = store
        self._begun = begun
        self._batches = _batches(store)
        self.last = self._read(self._batches[-1]) if self._batches else None
        self._kept: Plan | None = None

    def of(self, number: int) -> PlanRecord | None:
        """What batch `number` has followed already, if it is run again."""
        is_told = self.last is not None and number in (self.last.batch, self._begun)
        return self.last if is_told else None

    def keep(self, number: int, plan: Plan, reason: str = "") -> None:
        """Write down what batch `number` follows, if the batch before followed something else."""
        # Nearly all batches follow the very plan of the one before.
        if plan is self._kept or (self.last is not None and self.last.is_of(plan)):
            self._kept = plan
            return
        record = PlanRecord(number, render_plan(plan), plan.drops, reason)
        self._store.publish(_name(number), json.dumps(_to_json(record)).encode())
        self._batches.append(number)
        self.last, self._kept = record, plan

    def forget(self, before: int) -> None:
        """Delete the records that no batch from `before` on follows."""
        old = [batch for batch in self._batches if batch <= before][:-1]
        if old:
            self._store.remove([_name(batch) for batch in old])
            self._batches = [batch for batch in self._batches if batch not in old]

    def _read(self, batch: int) -> PlanRecord:
        name = _name(batch)
        try:
            return _from_json(batch, json.loads(bytes(self._store.read(name))))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CheckpointError(
                f"the plan log {self._store.path(name)} is damaged: {error}", hint=RESTORE
            ) from None


def forget_after(store: Store, batch: int) -> None:
    """Delete the records of batches after one, which will be begun anew."""
    store.remove([_name(each) for each in _batches(store) if each > batch])


def _batches(store: Store) -> list[int]:
    """The batches that there are records of."""
    names = (name.rsplit("/", 1)[-1] for name in store.names(_FOLDER))
    numbers = (name.removesuffix(".json") for name in names if name.endswith(".json"))
    return sorted(int(number) for number in numbers if number.isdigit())


def _name(batch: int) -> str:
    return f"{_FOLDER}/{batch:012d}.json"


def _to_json(record: PlanRecord) -> dict[str, Any]:
    drops = record.drops
    boxes = {
        "kept": dict(drops.kept),
        "seed": drops.seed,
        "estimates": drops.estimates,
        "may_shed": drops.may_shed,
    }
    return {
        "version": _VERSION,
        "batch": record.batch,
        "plan": record.plan,
        "drops": boxes,
        "reason": record.reason,
    }


def _from_json(batch: int, found: dict[str, Any]) -> PlanRecord:
    boxes = found["drops"]
    kept = tuple((str(alias), float(fraction)) for alias, fraction in boxes["kept"].items())
    may_shed = bool(boxes.get("may_shed", False))
    drops = DropBoxes(kept, int(boxes["seed"]), bool(boxes["estimates"]), may_shed)
    return PlanRecord(batch, str(found["plan"]), drops, str(found.get("reason", "")))
