"""A shared join that is shed: those who take from it have what they would have if each was shed so
by itself, estimates and intervals included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from penstock.cql import parse_script
from penstock.engine.control.order import Order
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan
from penstock.query.script import Script
from support.engines.script_runs import opened, plans_of, sinks_of
from support.sharing.forced import forced
from support.streams.drifting import Drifting, steady

STREAMS = Drifting(
    "abc", steady({"a": 60, "b": 60, "c": 30}), steady({"a": 12, "b": 12, "c": 12}), batches=12
)
QUERIES = """
INTO every;
SELECT a.k, COUNT(*) AS n, SUM(c.j) AS total, AVG(b.j) AS mean
FROM a [RANGE 2 SECONDS], b [RANGE 4 SECONDS], c [RANGE 3 SECONDS]
WHERE a.k = b.k AND b.k = c.k GROUP BY a.k EVERY 1 SECOND INTO counted;
SELECT b.k, COUNT(*) AS n FROM a [RANGE 3 SECONDS], b [RANGE 2 SECONDS] WHERE a.k = b.k AND b.j > 2
GROUP BY b.k EVERY 2 SECONDS INTO some
"""
BOXES: Mapping[int, dict[str, float]] = {
    3: {"a": 0.6},
    5: {"a": 0.4, "b": 0.7},
    8: {},
    10: {"c": 0.5},
}
Rows = Counter[tuple[tuple[str, Any], ...]]
TAKERS = ("every", "counted", "some")


@dataclass(frozen=True)
class Boxed:
    """A supervisor that sets the same drop boxes in all queries, from some batches on."""

    sheds: frozenset[str]

    def next_plans(self, running: Mapping[str, Plan], number: int) -> dict[str, Plan]:
        if number not in BOXES:
            return {}
        return {name: self._boxed(running[name], BOXES[number]) for name in self.sheds}

    def _boxed(self, plan: Plan, kept: Mapping[str, float]) -> Plan:
        mine = tuple((a, x) for a, x in kept.items() if a in plan.query.aliases)
        return replace(plan, drops=replace(plan.drops, kept=mine))

    def observe(
        self, report: Report, facts: Mapping[str, Sequence[Fact]], plans: Mapping[str, Plan]
    ) -> Report:
        return report

    def obey(self, order: Order) -> str:
        return str(order)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("partitions", [1, 3])
def test_what_is_taken_is_shed_as_if_it_was_found(partitions: int, tmp_path: Path) -> None:
    STREAMS.write(tmp_path / "data")
    script = parse_script(STREAMS.script(tmp_path / "data") + QUERIES)
    made: list[dict[str, Rows]] = []
    kinds: list[dict[str, tuple[str, ...]]] = [{}, {"shared.1": TAKERS}]
    for makers in kinds:
        planned = forced(script, makers)
        # Folded rows know less of their tuples, and leave out more intervals.
        plans = planned.plans if makers else plans_of(script)
        folder = tmp_path / str(len(made))
        boxed = Boxed(frozenset({*TAKERS, *makers}))
        run = opened(planned.script, folder, plans, partitions=partitions, followed_by=boxed)
        run.available_now(drain=True)
        made.append({name: _rows(folder, planned.script, name) for name in TAKERS})
    apart, shared = made
    assert shared == apart
    assert any(row["n_low"] != row["n_high"] for row in _told(shared["counted"]))
    assert any(row["n_low"] != row["n_high"] for row in _told(shared["some"]))


def _rows(folder: Path, script: Script, name: str) -> Rows:
    files = sorted(Path(sinks_of(script, folder)[name].place.path).glob("*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return Counter(tuple((key, _short(value)) for key, value in row.items()) for row in rows)


def _told(rows: Rows) -> list[dict[str, Any]]:
    return [dict(row) for row in rows if dict(row)["n_low"] is not None]


def _short(value: Any) -> Any:
    """A value without the digits that the order of a sum decides."""
    return float(f"{value:.9g}") if isinstance(value, float) else value
