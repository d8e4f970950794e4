"""Who shares a join: the planner weighs all of them together against each alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import PlanError
from penstock.optimize.options import PlanOptions
from penstock.optimize.script import decide_script, refuse_infeasible_script
from penstock.optimize.script_shedding import kept_share
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.script import PlannedScript
from penstock.plan.sharing.offers import offers
from penstock.plan.text.parse import forced_plan
from penstock.query.script import Standing

DECLARED = """
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, price DOUBLE)
WITH (format = 'csv', path = 'b', timestamp = 'ts', rate = 1000);
CREATE STREAM auction (ts TIMESTAMP, id BIGINT, seller BIGINT)
WITH (format = 'csv', path = 'a', timestamp = 'ts', rate = 10);
CREATE STREAM person (ts TIMESTAMP, id BIGINT, city STRING)
WITH (format = 'csv', path = 'p', timestamp = 'ts', rate = 2);
"""
COSTS = """
[costs]
insert = 1e-6
probe = 1e-6
expire = 1e-6
[joins]
"b.auction = a.id" = {selectivity = 0.0005}
"""
PAIR = "FROM bid [RANGE {} s] AS b, auction [RANGE 100 s] AS a WHERE b.auction = a.id"
ONE = f"SELECT a.seller, b.price INTO one {PAIR.format(10)};"
TWO = f"SELECT a.id, b.price INTO two {PAIR.format(20)} AND a.seller > 7;"
RARE = f"SELECT a.id INTO rare {PAIR.format(20)} AND b.price > 9;"
CHAIN = (
    "SELECT p.city, b.price INTO chain FROM bid [RANGE 5 s] AS b, auction [RANGE 50 s] AS a, "
    "person [RANGE 60 s] AS p WHERE b.auction = a.id AND a.seller = p.id;"
)


def script(tmp_path: Path, *queries: str, stats: str = COSTS, **more: Any) -> ps.ContinuousScript:
    path = tmp_path / "stats.toml"
    path.write_text(stats, encoding="utf-8")
    return ps.script(DECLARED + "".join(queries), stats=path, **more)


def takers(planned: PlannedScript) -> dict[str, tuple[str, ...]]:
    return {each.maker: each.takers for each in planned.sharing}


def test_an_equality_of_two_types_that_is_in_no_key_is_shared(tmp_path: Path) -> None:
    """Its figures are known by what the user has compared, without the cast."""
    declared = DECLARED.replace("seller BIGINT", "seller INT")
    both = f"{PAIR.format(20)} AND b.auction = a.seller"
    queries = f"SELECT a.id INTO one {both}; SELECT b.price INTO two {both};"
    found = ps.script(declared + queries).planned
    assert takers(found) == {"shared.1": ("one", "two")}


def test_queries_share_where_that_is_less_work(tmp_path: Path) -> None:
    found = script(tmp_path, ONE, TWO).planned
    assert takers(found) == {"shared.1": ("one", "two")}
    apart = script(tmp_path, ONE, TWO, off="sharing").planned
    assert apart.sharing == ()
    assert [member.name for member in apart.script.members] == ["one", "two"]
    (sharing,) = found.sharing
    assert sharing.together == pytest.approx(found.utilization)
    assert sharing.apart == pytest.approx(apart.utilization)
    assert found.utilization < 0.6 * apart.utilization
    assert sharing.saves == pytest.approx(1 - found.utilization / apart.utilization)


def test_who_does_better_alone_stays_apart(tmp_path: Path) -> None:
    # Together with `one` nothing would be filtered before the join, and each bid meets fifty.
    stats = COSTS.replace("0.0005", "0.05") + '[filters]\n"b.price > 9.0" = {selectivity = 1e-6}\n'
    found = script(tmp_path, RARE, RARE.replace("rare", "more"), ONE, stats=stats).planned
    assert takers(found) == {"shared.1": ("rare", "more")}


def test_a_query_of_some_inputs_takes_what_is_found_on_the_way(tmp_path: Path) -> None:
    found = script(tmp_path, CHAIN, ONE).planned
    assert takers(found) == {"shared.1": ("chain", "one")}
    taken = frozenset({"bid", "auction"})
    assert offers(found.plans["shared.1"], [taken])
    one = found.script.member("one")
    assert one.takes is not None
    assert {alias for _, alias in one.takes.aliases} == taken


@pytest.mark.parametrize(
    ("text", "is_offered"),
    [
        ("bid: auction person; auction: bid person; person: auction bid", True),
        ("bid: auction person; auction: person bid; person: auction bid", False),
        ("((bid auction) person)", True),
        ("(bid (auction person))", False),
    ],
)
def test_what_plans_come_by(tmp_path: Path, text: str, is_offered: bool) -> None:
    query = script(tmp_path, CHAIN, ONE).planned.script.member("shared.1").query
    plan = forced_plan(query, text)
    assert offers(plan, [frozenset({"bid", "auction"})]) is is_offered
    assert offers(plan, [frozenset(query.aliases)])


def test_shared_work_counts_once_against_the_capacity(tmp_path: Path) -> None:
    known: dict[str, Any] = {"stats": COSTS + '[filters]\n"a.seller > 7" = {selectivity = 0.5}\n'}
    needed = script(tmp_path, ONE, TWO, off="sharing", **known).planned.needed
    known["capacity"] = 0.8 * needed
    refuse_infeasible_script(script(tmp_path, ONE, TWO, **known).planned)
    with pytest.raises(PlanError, match="do not keep up"):
        refuse_infeasible_script(script(tmp_path, ONE, TWO, off="sharing", **known).planned)


def test_those_of_a_checkpoint_share_as_they_did(tmp_path: Path) -> None:
    asked = script(tmp_path, ONE, TWO, RARE, RARE.replace("rare", "more"))

    def on(standing: Standing, off: frozenset[str] = frozenset()) -> dict[str, tuple[str, ...]]:
        options = PlanOptions(off=off)
        return takers(decide_script(asked.script, asked.knowledge, options, standing))

    every = frozenset({"one", "two", "rare", "more"})
    assert on(Standing(every)) == {}
    assert on(Standing(every, {"shared.3": ("one", "rare")})) == {"shared.3": ("one", "rare")}
    begun = Standing(frozenset({"one", "two", "shared.1"}), {"shared.1": ("one", "two")})
    assert on(begun) == {"shared.1": ("one", "two"), "shared.2": ("rare", "more")}
    assert on(begun, frozenset({"sharing"})) == {"shared.1": ("one", "two")}


BUYERS = (
    "SELECT p.city, b.price INTO buyers FROM bid [RANGE 5 s] AS b, person [RANGE 60 s] AS p "
    "WHERE b.auction = p.id;"
)
OTHERS = BUYERS.replace("buyers", "others").replace("b.auction = p.id", "b.price = p.id")


def test_different_joins_share_what_is_kept_of_a_common_input(tmp_path: Path) -> None:
    stats = COSTS + '"b.auction = p.id" = {selectivity = 0.0005}\n'
    found = script(tmp_path, ONE, BUYERS, stats=stats).planned
    (sharing,) = found.sharing
    assert set(sharing.takers) == {"one", "buyers"}
    plan = found.plans["shared.1"]
    assert isinstance(plan, MultiwayJoin)
    wanted = [frozenset({"bid", "auction"}), frozenset({"bid", "person"})]
    assert set(plan.joins) == set(wanted)
    assert offers(plan, wanted)
    assert not offers(plan, [frozenset({"bid", "auction", "person"})])
    apart = script(tmp_path, ONE, BUYERS, stats=stats, off="sharing").planned
    assert found.utilization < apart.utilization
    assert sharing.together == pytest.approx(found.utilization)
    estimate = found.decisions["shared.1"].chosen.estimate
    each = [apart.decisions[name].chosen.estimate.output_rate for name in sharing.takers]
    # The windows of bids differ, and the longer one serves both.
    assert sum(each) < estimate.output_rate < 3 * sum(each)


def test_what_is_kept_by_two_keys_is_kept_twice_and_saves_nothing(tmp_path: Path) -> None:
    stats = COSTS + '"b.price = p.id" = {selectivity = 0.0005}\n'
    assert script(tmp_path, ONE, OTHERS, stats=stats).planned.sharing == ()


def test_queries_that_share_are_shed_together(tmp_path: Path) -> None:
    stats = COSTS + '"b.auction = p.id" = {selectivity = 0.0005}\n'
    whole = script(tmp_path, ONE, BUYERS, TWO, stats=stats).planned
    assert len(whole.sharing) == 1
    more: dict[str, Any] = {"stats": stats, "shed": True, "capacity": 0.5 * whole.needed}
    found = script(tmp_path, ONE, BUYERS, TWO, **more).planned
    assert found.is_shed
    assert [each.takers for each in found.sharing] == [each.takers for each in whole.sharing]
    assert found.utilization == pytest.approx(0.5 * whole.needed, rel=0.01)
    made = dict(found.plans["shared.1"].drops.kept)
    assert made
    for name, taking in ((m.name, m.takes) for m in found.script.members if m.takes):
        kept = dict(found.plans[name].drops.kept)
        assert kept == {a: made[b] for a, b in taking.aliases if b in made}
        estimate = found.decisions[name].chosen.estimate
        assert 0.0 < estimate.output_rate < estimate.full_rate
    # Apart they would have less left of the same capacity.
    apart = script(tmp_path, ONE, BUYERS, TWO, off="sharing", **more).planned
    assert kept_share(found) > kept_share(apart)


def test_explain_says_of_a_view_that_takes_what_is_shed_that_it_is_an_estimate(
    tmp_path: Path,
) -> None:
    counts = f"SELECT a.seller, COUNT(*) AS n INTO counts {PAIR.format(10)} GROUP BY a.seller;"
    needed = script(tmp_path, ONE, counts).planned.needed
    shed = script(tmp_path, ONE, counts, shed=True, capacity=0.5 * needed)
    assert shed.planned.sharing
    assert "note    the view is an estimate from " in shed.explain()


def test_inputs_that_a_third_makes_equal_are_not_those_of_a_pair(tmp_path: Path) -> None:
    """Of bids and people the chain wants those of one auction as well, and the pair does not."""
    chain = (
        "SELECT p.city INTO chain FROM bid [RANGE 5 s] AS b, auction [RANGE 50 s] AS a, "
        "person [RANGE 60 s] AS p "
        "WHERE b.auction = a.id AND a.id = p.id AND b.price = p.id;"
    )
    found = script(tmp_path, chain, OTHERS).planned
    assert found.sharing == ()


def test_explain_says_which_joins_share_an_input(tmp_path: Path) -> None:
    text = script(tmp_path, ONE, BUYERS).explain()
    assert "shared  auction ⋈ bid, bid ⋈ person once, as shared.1, for" in text
    assert "probe auction; person" in text
