"""Shedding of scripts: one capacity, shared out among the queries that may shed."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.cql import parse_script
from penstock.errors import PlanError
from penstock.optimize.options import PlanOptions
from penstock.optimize.script_shedding import CapacityPoint, shared_out
from support.sharing.forced import forced

COSTS = """
[costs]
insert = 1e-6
probe = 1e-6
expire = 1e-6
[joins]
"b.auction = a.id" = {selectivity = 0.02}
"""
QUERIES = """
CREATE STREAM bid (ts BIGINT, auction BIGINT, price BIGINT)
WITH (format = 'csv', path = '{bid}', timestamp = 'ts', unit = 's', rate = 1000);
CREATE STREAM auction (ts BIGINT, id BIGINT, seller BIGINT)
WITH (format = 'csv', path = '{auction}', timestamp = 'ts', unit = 's', rate = 10);
CREATE VIEW most AS SELECT auction, MAX(price) AS top FROM bid [RANGE 30 SECONDS]
GROUP BY auction EVERY 10 SECONDS;
SELECT b.price, a.seller FROM bid [RANGE 10 SECONDS] AS b, auction [RANGE 100 SECONDS] AS a
WHERE b.auction = a.id INTO pairs;
SELECT a.seller, COUNT(*) AS n FROM bid [RANGE 20 SECONDS] AS b, auction [RANGE 50 SECONDS] AS a
WHERE b.auction = a.id GROUP BY a.seller EVERY 10 SECONDS INTO counts;
SELECT b.auction, b.price, m.top FROM bid [NOW] AS b, most AS m WHERE m.auction = b.auction
INTO beside;
"""


def script(folder: Path, costs: str = COSTS, **options: Any) -> ps.ContinuousScript:
    stats = folder / "stats.toml"
    stats.write_text(costs, encoding="utf-8")
    text = QUERIES.format(bid=folder / "bid", auction=folder / "auction")
    return ps.script(text, stats=stats, **options)


def needed(folder: Path) -> float:
    return script(folder).planned.needed


def test_a_script_that_keeps_up_is_not_shed(tmp_path: Path) -> None:
    exact = script(tmp_path, capacity=needed(tmp_path) * 1.01)
    assert script(tmp_path, capacity=needed(tmp_path) * 1.01, shed=True).planned == exact.planned
    assert not exact.planned.is_shed


@pytest.mark.parametrize("part", [0.95, 0.8, 0.6])
def test_the_capacity_is_kept_and_used(part: float, tmp_path: Path) -> None:
    capacity = needed(tmp_path) * part
    found = script(tmp_path, capacity=capacity, shed=True).planned
    assert found.is_shed
    assert found.utilization == pytest.approx(capacity, rel=0.02)
    # What others read is whole, and so is a view that a tuple meets as it is.
    assert not found.decisions["most"].is_shed
    assert found.plans["beside"].drops.fraction("m") == 1.0


def test_what_is_read_once_counts_once(tmp_path: Path) -> None:
    costs = COSTS.replace("[costs]", "[costs]\narrive = 5e-6")
    free = script(tmp_path, off=["sharing"]).planned
    dear = script(tmp_path, costs, off=["sharing"]).planned
    # Four queries read bids, a thousand a second, and two the ten auctions.
    assert {each.source: len(each.queries) for each in dear.reading} == {"bid": 4, "auction": 2}
    assert dear.saved_reading == pytest.approx(5e-6 * (3 * 1000 + 10))
    # Of the view a few changes are received too.
    assert dear.needed - free.needed == pytest.approx(5e-6 * (1000 + 10), rel=0.05)
    shed = script(tmp_path, costs, shed=True, capacity=dear.needed * 0.8).planned
    assert shed.utilization == pytest.approx(dear.needed * 0.8, rel=0.02)


def test_less_capacity_keeps_less_of_everything(tmp_path: Path) -> None:
    whole = needed(tmp_path)
    kept = []
    for part in (0.9, 0.7, 0.5):
        found = script(tmp_path, capacity=whole * part, shed=True).decisions
        estimates = [found[name].chosen.estimate for name in ("pairs", "counts", "beside")]
        kept.append([each.output_rate / each.full_rate for each in estimates])
    for more, less in pairwise(kept):
        assert sum(less) < sum(more)


def test_too_little_is_refused_with_what_cannot_be_shed(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"(?s)even when all that can be is shed.*not shed: most "):
        script(tmp_path, capacity=1e-9, shed=True).explain()


def test_who_shares_a_join_on_a_checkpoint_is_shed_from_the_start() -> None:
    asked = parse_script(
        "CREATE STREAM a (ts TIMESTAMP, k INT) WITH (format = 'csv', path = 'x', timestamp = 'ts');"
        "CREATE STREAM b (ts TIMESTAMP, k INT) WITH (format = 'csv', path = 'x', timestamp = 'ts');"
        "SELECT a.k FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS] WHERE a.k = b.k INTO one;"
        "SELECT b.k FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS] WHERE a.k = b.k INTO two"
    )
    makers = {"shared.1": ("one", "two")}
    whole, shedding = forced(asked, makers).needed, PlanOptions(sheds=True)
    found = forced(asked, makers, capacity=0.4 * whole, options=shedding)
    assert [each.maker for each in found.sharing] == ["shared.1"]
    assert found.plans["shared.1"].drops.kept
    assert found.utilization == pytest.approx(0.4 * whole, rel=0.01)
    with pytest.raises(PlanError, match="all that can be is shed"):
        forced(asked, makers, capacity=1e-9, options=shedding)


def test_explain_says_what_is_left(tmp_path: Path) -> None:
    asked = script(tmp_path, capacity=needed(tmp_path) * 0.7, shed=True)
    assert "CPU-seconds a second: sheds" in asked.explain()
    assert " of its results" in asked.explain()
    document = json.loads(asked.explain("json"))
    assert (document["shed"], document["feasible"]) == (True, False)
    assert document["utilization"] <= document["capacity"] * 1.02


@pytest.mark.parametrize("seed", range(20))
def test_no_other_shares_of_a_grid_are_worth_more(seed: int) -> None:
    random = Random(seed)
    curves = {}
    for name in "abc":
        gains = sorted((random.random() for _ in range(4)), reverse=True)
        total, shares = sum(gains), [0.0]
        for gain in gains:
            shares.append(shares[-1] + gain / total)
        curves[name] = [CapacityPoint(float(step + 1), share) for step, share in enumerate(shares)]
    capacity = float(random.randrange(4, 15))
    given = shared_out(curves, capacity)
    assert sum(given.values()) == pytest.approx(min(capacity, 15.0))

    def worth(where: dict[str, float]) -> float:
        return sum(curves[name][round(at) - 1].share for name, at in where.items())

    grid = [
        {"a": float(a), "b": float(b), "c": float(c)}
        for a in range(1, 6)
        for b in range(1, 6)
        for c in range(1, 6)
        if a + b + c <= capacity
    ]
    assert worth(given) == pytest.approx(max(map(worth, grid)))


def test_shed_queries_give_some_of_their_results_and_others_all(tmp_path: Path) -> None:
    random = Random(7)
    for name, rows in (
        ("bid", [(t, random.randrange(40), random.randrange(99)) for t in range(60)] * 20),
        ("auction", [(t, random.randrange(40), random.randrange(9)) for t in range(60)]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        head = "ts,auction,price" if name == "bid" else "ts,id,seller"
        lines = "\n".join(",".join(map(str, row)) for row in sorted(rows))
        (folder / "1.csv").write_text(f"{head}\n{lines}\n", encoding="utf-8")
    capacity = needed(tmp_path) * 0.6
    exact = _results(tmp_path / "exact", script(tmp_path))
    shed = script(tmp_path, capacity=capacity, shed=True)
    found = _results(tmp_path / "shed", shed)
    assert found == _results(tmp_path / "again", shed)
    is_less = False
    for name, decision in shed.decisions.items():
        if name in ("pairs", "beside"):
            assert found[name] <= exact[name]
            assert (found[name] < exact[name]) == decision.is_shed
            is_less |= decision.is_shed
    assert is_less


def _results(folder: Path, asked: ps.ContinuousScript) -> dict[str, Counter[tuple[Any, ...]]]:
    sinks = {name: ps.parquet(folder / name) for name in ("pairs", "counts", "beside")}
    run = asked.local(sink=sinks, checkpoint=folder / "checkpoint", available_now=True)
    run.await_termination()
    return {
        name: Counter(
            tuple(row.values())
            for path in sorted((folder / name).rglob("*.parquet"))
            for row in pq.read_table(path).to_pylist()
        )
        for name in sinks
    }
