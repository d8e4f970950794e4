"""Explain of scripts: every query under its name, and what they take together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import PlanError
from support import paths
from support.golden import as_reviewed

TEXT = """
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, price DOUBLE)
WITH (format = 'csv', path = 'b', timestamp = 'ts', rate = 1000);
CREATE STREAM auction (ts TIMESTAMP, id BIGINT, seller BIGINT)
WITH (format = 'csv', path = 'a', timestamp = 'ts', rate = 10);
CREATE STREAM sold AS SELECT a.seller, b.price
FROM bid [RANGE 10 SECONDS] AS b, auction [RANGE 100 SECONDS] AS a WHERE b.auction = a.id;
CREATE VIEW best AS SELECT seller, MAX(price) AS most FROM sold [RANGE 1 MINUTE] GROUP BY seller
EVERY 10 SECONDS;
SELECT s.seller, s.price FROM sold [NOW] AS s, best WHERE s.seller = best.seller INTO tops;
SELECT AVG(most) AS mean FROM best INTO `the "mean"`;
"""
ENDS = {"text": "txt", "json": "json", "mermaid": "mmd", "dot": "dot", "html": "html"}


COSTS = "[costs]\ninsert = 1e-6\nprobe = 1e-6\nexpire = 1e-6\n"


@pytest.fixture
def script(tmp_path: Path) -> ps.ContinuousScript:
    # Whatever this machine was calibrated to.
    stats = tmp_path / "stats.toml"
    stats.write_text(COSTS, encoding="utf-8")
    return ps.script(TEXT, stats=stats)


@pytest.mark.parametrize("format_", ENDS)
def test_scripts_are_explained_as_reviewed(script: ps.ContinuousScript, format_: str) -> None:
    golden = paths.GOLDEN / "explain" / f"script.{ENDS[format_]}"
    assert as_reviewed(golden, script.explain(format_))


SHARED = """
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, bidder BIGINT, price DOUBLE)
WITH (format = 'csv', path = 'b', timestamp = 'ts', rate = 1000);
CREATE STREAM auction (ts TIMESTAMP, id BIGINT, seller BIGINT, category INT)
WITH (format = 'csv', path = 'a', timestamp = 'ts', rate = 10);
SELECT b.bidder, b.price, a.seller INTO large
FROM bid [RANGE 10 SECONDS] AS b, auction [RANGE 100 SECONDS] AS a
WHERE b.auction = a.id AND b.price > 100;
SELECT x.price, y.category INTO fair
FROM auction [RANGE 1 MINUTE] AS y, bid [RANGE 20 SECONDS] AS x
WHERE y.id = x.auction AND x.price > 50 AND y.category < 5;
SELECT a.seller, MAX(b.price) AS most INTO sellers
FROM bid [RANGE 30 SECONDS] AS b, auction [RANGE 100 SECONDS] AS a
WHERE b.auction = a.id AND b.price > 50 GROUP BY a.seller EVERY 10 SECONDS;
"""
SELECTIVE = """
[joins]
"b.auction = a.id" = {selectivity = 0.0005}
"""


@pytest.fixture
def shared(tmp_path: Path) -> ps.ContinuousScript:
    """Three queries that share a join."""
    stats = tmp_path / "stats.toml"
    stats.write_text(COSTS + SELECTIVE, encoding="utf-8")
    return ps.script(SHARED, stats=stats)


@pytest.mark.parametrize("format_", ENDS)
def test_what_is_shared_is_explained_as_reviewed(shared: ps.ContinuousScript, format_: str) -> None:
    golden = paths.GOLDEN / "explain" / f"shared_script.{ENDS[format_]}"
    assert as_reviewed(golden, shared.explain(format_))


def test_json_says_who_shares_and_what_that_saves(shared: ps.ContinuousScript) -> None:
    found = json.loads(shared.explain("json"))
    (sharing,) = found["sharing"]
    assert sharing["queries"] == ["large", "fair", "sellers"]
    work = {query["name"]: query["chosen"]["utilization"] for query in found["queries"]}
    assert sharing["utilization"] == pytest.approx(sum(work.values()))
    assert sharing["saves"] == pytest.approx(1 - sharing["utilization"] / sharing["apart"])
    assert [query["takes"] for query in found["queries"]] == [None, *["shared.1"] * 3]


def test_json_has_every_query_and_their_total(script: ps.ContinuousScript) -> None:
    found = json.loads(script.explain("json", alternatives=True))
    names = [query["name"] for query in found["queries"]]
    assert names == ["sold", "best", "tops", 'the "mean"']
    assert [query["sink"] for query in found["queries"]] == [False, False, True, True]
    tops = found["queries"][2]
    assert tops["reads"] == ["sold", "best"]
    assert [(each["kind"], each["window"]) for each in tops["inputs"]] == [
        ("stream", "NOW"),
        ("view", None),
    ]
    assert tops["alternatives"]
    total = sum(query["chosen"]["utilization"] for query in found["queries"])
    assert found["utilization"] == pytest.approx(total)


def test_pictures_have_arrows_from_results_to_inputs(script: ps.ContinuousScript) -> None:
    assert "  q0_out --> q1_in0\n  q0_out --> q2_in0\n  q1_out --> q2_in1\n" in script.explain(
        "mermaid"
    )
    assert "  q1_out -> q3_in0;" in script.explain("dot")


def test_a_format_that_nobody_knows_is_refused(script: ps.ContinuousScript) -> None:
    with pytest.raises(PlanError, match="no format 'xml'"):
        script.explain("xml")
