"""Plans of scripts: what one query is expected to give is what the next one is planned for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import PlanError, StatsError
from penstock.optimize.script import refuse_infeasible_script

COSTS = """
[costs]
insert = 1e-6
probe = 1e-6
expire = 1e-6
[joins]
"b.auction = a.id" = {selectivity = 0.001}
"""
DECLARATIONS = """
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, price DOUBLE)
WITH (format = 'csv', path = 'b', timestamp = 'ts', rate = 1000);
CREATE STREAM auction (ts TIMESTAMP, id BIGINT, seller BIGINT)
WITH (format = 'csv', path = 'a', timestamp = 'ts', rate = 10);
CREATE STREAM sold AS SELECT a.seller, b.price
FROM bid [RANGE 10 SECONDS] AS b, auction [RANGE 100 SECONDS] AS a WHERE b.auction = a.id;
"""
ALONE = COSTS[: COSTS.index("[joins]")]
"""Costs for queries that do not read `sold`, which is then left out."""
OVER = "SELECT price FROM sold [ROWS 5]"


def planned(tmp_path: Path, select: str, stats: str = COSTS, **options: Any) -> ps.ContinuousScript:
    path = tmp_path / "stats.toml"
    path.write_text(stats, encoding="utf-8")
    return ps.script(DECLARATIONS + select, stats=path, **options)


def test_the_rate_of_an_input_is_what_its_maker_is_expected_to_give(tmp_path: Path) -> None:
    decisions = planned(tmp_path, OVER).decisions
    made = decisions["sold"].chosen.estimate.output_rate
    # 0.001 · (1000 · 1000 + 10 · 10000)
    assert made == pytest.approx(1100)
    rate = decisions["result"].inputs["sold"].rate
    assert rate is not None
    assert rate.value == pytest.approx(made)
    assert rate.origin == "derived"
    assert "sold" in rate.note


def test_a_view_gives_its_changes(tmp_path: Path) -> None:
    view = "CREATE VIEW v AS SELECT seller, MAX(price) AS p FROM sold [ROWS 5] GROUP BY seller "
    select = view + "EVERY 10 SECONDS; SELECT p FROM v [NOW]"
    decisions = planned(tmp_path, select).decisions
    changes = decisions["v"].chosen.estimate.changes
    rate = decisions["result"].inputs["v"].rate
    assert rate is not None
    assert rate.value == changes


def test_what_several_queries_give_to_one_stream_is_added_up(tmp_path: Path) -> None:
    select = "SELECT price FROM bid [NOW] UNION ALL SELECT seller FROM auction [NOW]"
    rate = planned(tmp_path, select, ALONE).decisions["result"].inputs["result"].rate
    assert rate is not None
    assert rate.value == 1010


def test_a_rate_that_is_given_counts_more(tmp_path: Path) -> None:
    stats = COSTS + "[streams.sold]\nrate = 7\n"
    rate = planned(tmp_path, OVER, stats).decisions["result"].inputs["sold"].rate
    assert rate is not None
    assert (rate.value, rate.origin) == (7, "declared")


def test_a_guess_makes_guesses_of_what_follows(tmp_path: Path) -> None:
    rate = planned(tmp_path, OVER, ALONE).decisions["result"].inputs["sold"].rate
    assert rate is not None
    assert rate.is_guess


def test_changes_of_a_view_that_is_met_as_it_is_give_no_results(tmp_path: Path) -> None:
    view = "CREATE VIEW v AS SELECT COUNT(*) AS n FROM auction [RANGE 1 HOUR]; "
    select = view + "SELECT b.price, v.n FROM bid [UNBOUNDED] AS b, v"
    estimate = planned(tmp_path, select, ALONE).decisions["result"].chosen.estimate
    # Each bid meets the one row; the bids that are there meet no row when it changes.
    assert estimate.output_rate == pytest.approx(1000)


def test_figures_are_given_to_the_query_that_has_what_they_are_of(tmp_path: Path) -> None:
    stats = COSTS + '[filters]\n"sold.price > 3.0" = {selectivity = 0.25}\n'
    script = planned(tmp_path, OVER + " WHERE price > 3", stats)
    assert script.decisions["result"].chosen.estimate.output_rate == pytest.approx(275)
    with pytest.raises(StatsError, match=r"streams\.nobody is not in the query"):
        planned(tmp_path, OVER, COSTS + "[streams.nobody]\nrate = 1\n")
    with pytest.raises(StatsError, match="training is of one query"):
        planned(tmp_path, OVER, COSTS + "[training.b]\nattributes = []\n")


def test_queries_must_keep_up_together(tmp_path: Path) -> None:
    found = planned(tmp_path, OVER).planned
    parts = [each.chosen.estimate.needed for each in found.decisions.values()]
    assert found.needed == sum(parts)
    refuse_infeasible_script(found)
    # Each by itself would keep up.
    short = planned(tmp_path, OVER, capacity=max(parts) * 1.01)
    assert all(each.is_feasible for each in short.decisions.values())
    assert not short.planned.is_feasible
    with pytest.raises(PlanError, match=r"(?s)do not keep up.*sold .*result "):
        refuse_infeasible_script(short.planned)


@pytest.mark.parametrize("option", [{"plan": "b: a"}, {"engine": "laboratory"}])
def test_what_is_of_one_query_is_refused(tmp_path: Path, option: dict[str, Any]) -> None:
    script = planned(tmp_path, OVER, **option)
    with pytest.raises(PlanError, match="several"):
        script.explain()
    assert "cannot be planned" in repr(script)
