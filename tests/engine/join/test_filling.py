"""Filling: what inner state lacks, how long, and what a switch of plans takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engine.join.filling import gaps_of, text_of
from penstock.engine.routes.filling_routes import filling_routing
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.run.inner_state import switch_cost
from penstock.engine.state.gaps import Gap
from penstock.engine.state.manifest import Manifest, StreamState, commit, latest
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo
from penstock.query import Query
from support.engines.runs import Place, planned, tree
from support.plans.trees import CHAIN, COMMON, TIMES, long_query

SECOND = 1_000_000
DEEP, BUSHY = ("d", ("c", ("b", "a"))), (("a", "b"), ("d", "c"))


def standing(query: Query, second: int, **more: object) -> Manifest:
    streams = {name: StreamState(highest=second * SECOND) for name in query.stream_sources}
    return replace(Manifest(batch=7, streams=streams), **more)  # type: ignore[arg-type]


@pytest.fixture
def query(tmp_path: Path) -> Query:
    """Windows of 20 s, 8 s in steps of 4 s, blocks of 12 s, 9 s."""
    return long_query(tmp_path / "in", TIMES, CHAIN, batches=1)


def test_a_gap_lasts_until_the_first_member_is_dead(query: Query) -> None:
    routing = routing_of(tree(query, DEEP), Layout(query))
    found = gaps_of(query, routing, standing(query, 30), ())
    # Of 30 s, b is alive until just before 40 s, c to the end of its block at 36 s.
    assert {str(m): [gap.until for gap in gaps] for m, gaps in found.items()} == {
        "(a b)@1": [40 * SECOND - 1],
        "(a b c)@2": [36 * SECOND - 1, 40 * SECOND - 1],
    }
    assert [gap.members for gap in found[Module("(a b c)@2")]] == [("c", "b", "a"), ("b", "a")]


def test_a_gap_is_closed_once_nothing_older_comes(query: Query) -> None:
    routing = routing_of(tree(query, DEEP), Layout(query))
    gaps = gaps_of(query, routing, standing(query, 30), ())
    modules = {inner.module for inner in routing.inners}
    for second, count in ((35, 2), (36, 2), (39, 2), (40, 0)):
        now = standing(query, second, gaps=gaps, inner=tuple(modules))
        assert len(gaps_of(query, routing, now, modules)) == count, second


def test_nothing_is_missing_before_the_first_tuple(query: Query) -> None:
    routing = routing_of(tree(query, DEEP), Layout(query))
    assert gaps_of(query, routing, Manifest(batch=-1), ()) == {}


def test_what_both_plans_keep_is_made_once(query: Query) -> None:
    layout = Layout(query)
    deep, bushy = (routing_of(tree(query, shape), layout) for shape in (DEEP, BUSHY))
    both = filling_routing(deep, bushy)
    assert both is not None
    assert [str(inner.module) for inner in both.inners] == ["(a b)@1", "(a b c)@2", "(c d)@1"]
    filling = [route for route in both.routes if route.fills]
    assert {(route.driver, route.makes) for route in filling} == {("c", "(c d)"), ("d", "(c d)")}
    assert {str(route.tag("drive")) for route in filling} == {"fill:c", "fill:d"}


def test_the_same_results_in_two_spaces_are_not_kept_at_once(query: Query) -> None:
    layout = Layout(query)
    shapes = ("d", ("c", ("b", "a"))), (("c", "d"), ("a", "b"))
    one, other = (routing_of(tree(query, shape), layout) for shape in shapes)
    moved = replace(other, inners=tuple(replace(i, space=i.space + 7) for i in other.inners))
    assert filling_routing(one, moved) is None


def test_a_switch_is_free_or_fills_or_rebuilds(query: Query) -> None:
    rows = {0: (ChunkInfo("chunk", 1, 1, 0, 0, 0),)}
    chunk = replace(rows[0][0], rows=100_000)
    modules = {Module.kept(alias, 0): {0: (chunk,)} for alias in ("a", "b")}
    now = standing(query, 30, modules=modules)
    assert switch_cost(planned(query), now).kind == "free"
    found = switch_cost(tree(query, DEEP), now)
    assert (found.kind, found.rows) == ("fill", 200_000)
    assert found.seconds == pytest.approx(10.0, abs=0.001)
    assert switch_cost(tree(query, DEEP), now, rebuilt_at_once=200_000).kind == "rebuild"
    inner = tuple(i.module for i in routing_of(tree(query, DEEP), Layout(query)).inners)
    assert switch_cost(tree(query, DEEP), replace(now, inner=inner)).kind == "free"


def test_what_never_dies_is_rebuilt(tmp_path: Path) -> None:
    windows = ("UNBOUNDED", "ROWS 5", "RANGE 9 SECONDS", "RANGE 9 SECONDS")
    query = long_query(tmp_path / "in", windows, COMMON, batches=1)
    chunk = ChunkInfo("chunk", 1, 1, 0, 0, 0)
    modules = {Module.kept("a", 0): {0: (replace(chunk, rows=100_000),)}}
    now = standing(query, 30, modules=modules)
    assert switch_cost(tree(query, ((("a", "b"), "c"), "d")), now).kind == "rebuild"
    assert switch_cost(tree(query, ((("a", "c"), "b"), "d")), now).kind == "fill"


def test_manifests_keep_gaps(tmp_path: Path) -> None:
    store = Place(tmp_path).store
    gaps = {Module("(a b)@1"): (Gap(("a", "b"), 7), Gap(("b",), -3))}
    made = Manifest(batch=0, gaps=gaps, results_by="((a b) c)")
    commit(store, made)
    assert latest(store) == made


def test_the_text_of_a_plan_is_that_of_its_join(query: Query) -> None:
    plan = replace(tree(query, BUSHY), early=("a",))
    assert text_of(plan) == "((a b) (d c))"
