"""Costs of single windows on the simulated clock (A&N Eq. 7 and 8): by hand."""

from __future__ import annotations

import pytest

from penstock.lab.clock import ClockCosts, Servers, SimulatedClock, WindowCharge
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from support.lab.laboratory import tables_of
from support.lab.laboratory_trees import hand_made, tree_of

WINDOWS = {"A": WindowCharge(settle=1.0, probe=10.0), "C": WindowCharge(settle=100.0, probe=1e3)}


@pytest.mark.parametrize("servers", ["shared", "each"])
@pytest.mark.parametrize(("method", "busy"), [("hash", 3122.0), ("nested", 102.0)])
def test_a_tree_pays_at_each_side(servers: Servers, method: Method, busy: float) -> None:
    """A0 and A1 settle, B2 and B4 probe A; C3 settles, and A0B2, A1B2 and A1B4 probe C."""
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), method)
    clock = SimulatedClock(ClockCosts(), servers, windows=WINDOWS)
    assert run(plan, tables_of(case), Eager(), clock=clock).busy == pytest.approx(busy)


def test_a_multi_way_join_pays_for_tuples_and_probes() -> None:
    """A0 and A1 find no B; B2 probes A and with what it finds, twice, C; C3 probes B and, with the
    one it finds, A; B4 probes A, and with A1 alone C: A0 is dead."""
    case = hand_made()
    orders = {"A": "BC", "B": "AC", "C": "BA"}
    plan = MultiwayJoin(
        case.query,
        tuple(
            ProbeOrder(driver, tuple(Probe(target, "hash") for target in targets))
            for driver, targets in orders.items()
        ),
    )
    outcome = run(
        plan, tables_of(case), Eager(), clock=SimulatedClock(ClockCosts(), windows=WINDOWS)
    )
    assert outcome.busy == pytest.approx(2 * 1.0 + 100.0 + 3 * 10.0 + 3 * 1e3)


def test_a_cheaper_window_takes_less() -> None:
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), "hash")
    clock = SimulatedClock(ClockCosts(inserts=1.0), windows={"B": WindowCharge(settle=-0.5)})
    outcome = run(plan, tables_of(case), Eager(), clock=clock)
    assert outcome.busy == pytest.approx(outcome.work.inserts - 2 * 0.5)
