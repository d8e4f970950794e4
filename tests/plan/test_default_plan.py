"""Default plans: each stream visits the others in FROM order, joins before products."""

from __future__ import annotations

import pytest

from penstock.plan.default_plan import default_plan
from penstock.plan.multiway import ProbeOrder
from penstock.plan.text.parse import forced_plan
from penstock.query import Query
from support.plans.plan_queries import (
    auction,
    chain3,
    hostile,
    mixed,
    order,
    outputs,
    star3,
    stream,
)


def test_streams_visit_the_others_in_from_order() -> None:
    assert default_plan(star3()).orders == (
        order("A", "B", "C"),
        order("B", "A", "C"),
        order("C", "A", "B"),
    )


def test_no_product_is_made_where_a_join_can_come_first() -> None:
    assert default_plan(chain3()).order("C") == order("C", "B", "A")


def test_tables_are_visited_but_never_drive() -> None:
    orders = default_plan(auction()).orders
    assert [o.driver for o in orders] == ["bid", "auction"]
    assert all("person" in o.targets for o in orders)


def test_one_stream_alone_has_nothing_to_visit() -> None:
    query = Query((stream("A"),), outputs(stream("A")))
    assert default_plan(query).orders == (ProbeOrder("A", ()),)
    assert forced_plan(query, "A:") == default_plan(query)


@pytest.mark.parametrize("make", [star3, chain3, auction, mixed, hostile])
def test_every_default_order_visits_every_other_input_once(make: object) -> None:
    query = make()  # type: ignore[operator]
    for probe_order in default_plan(query).orders:
        assert sorted((probe_order.driver, *probe_order.targets)) == sorted(query.aliases)
