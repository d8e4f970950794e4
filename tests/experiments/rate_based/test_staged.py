"""Trees run join by join: the same as the laboratory's own where all joins cost the same."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock.duration import MICROS
from penstock.experiments.rate_based.complex_plans import FIVE, FIVE_WAY, THREE, THREE_WAY, Streams
from penstock.experiments.rate_based.curves import PlanCurves
from penstock.experiments.rate_based.staged import Stage, moments
from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.lab.clock import ClockCosts, SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.papers.curve import Curve
from penstock.plan.tree import Branch, Leaf, TreeJoin
from penstock.query import Column, DataType, Equality, Field, Input, Output, Query, Source
from penstock.query.window import UNBOUNDED

STREAMS = {
    "A": Stream(50.0, {"ab": 20, "ac": 30}, 300, poisson=True),
    "B": Stream(80.0, {"ab": 20}, 400, poisson=True),
    "C": Stream(40.0, {"ac": 30}, 200, poisson=True),
}
COST = 0.004


def tree() -> TreeJoin:
    """(A⋈B)⋈C as one plan."""
    inputs = tuple(
        Input(
            name,
            Source(name, tuple(Field(c, DataType.BIGINT) for c in stream.values), "parquet"),
            UNBOUNDED,
        )
        for name, stream in STREAMS.items()
    )
    equalities = tuple(
        Equality(Column("A", column, DataType.BIGINT), Column(other, column, DataType.BIGINT))
        for column, other in (("ab", "B"), ("ac", "C"))
    )
    output = Output("ab", Column("A", "ab", DataType.BIGINT))
    root = Branch(Branch(Leaf("A"), Leaf("B"), "hash"), Leaf("C"), "hash")
    return TreeJoin(Query(inputs, (output,), equalities), root)


def test_stages_are_the_servers_of_a_tree() -> None:
    tuples = tuples_of(STREAMS, math.inf, seed=3)
    clock = SimulatedClock(ClockCosts(inserts=COST), servers="each")
    whole = run(tree(), tuples, Eager(), clock=clock)
    staged = moments(Stage(Stage("A", "B", "ab", COST), "C", "ac", COST), tuples)
    assert len(staged) > 1000
    assert len(staged) == len(whole.produced_at)
    # Inner rows that one arrival makes are ready at once, and may be served in another order.
    np.testing.assert_allclose(staged, whole.produced_at / MICROS, atol=10 * COST)


def test_an_expensive_join_makes_results_later() -> None:
    tuples = tuples_of(STREAMS, math.inf, seed=3)
    cheap = moments(Stage("A", "C", "ac", 0.001), tuples)
    dear = moments(Stage("A", "C", "ac", 0.02), tuples)
    assert len(cheap) == len(dear)
    assert (dear >= cheap).all()
    assert dear[-1] >= 500 * 0.02


@pytest.mark.parametrize(("plans", "streams"), [(THREE_WAY, THREE), (FIVE_WAY, FIVE)])
def test_plans_join_every_stream_once(plans: dict[str, Stage], streams: Streams) -> None:
    def leaves(node: Stage | str) -> list[str]:
        return [node] if isinstance(node, str) else [*leaves(node.left), *leaves(node.right)]

    names = tuple(sorted(streams.sizes))
    assert {tuple(sorted(leaves(plan))) for plan in plans.values()} == {names}


def test_times_of_shares_are_read_off_both_curves() -> None:
    model = Curve(np.array([0.0, 10.0]), np.array([0.0, 100.0]))
    curves = PlanCurves({"p": model}, {"p": np.arange(1.0, 101.0) / 10})
    assert curves.foreseen_times(0.5) == {"p": pytest.approx(5.0)}
    assert curves.measured_times(0.5) == {"p": pytest.approx(5.0)}
    chart = curves.chart("title", most=50.0)
    assert max(chart.series[0].y) == 50.0
