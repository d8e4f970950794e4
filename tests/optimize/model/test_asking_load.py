"""The work of asking for partners in outer joins: charged beside that of the pairs, and told."""

from __future__ import annotations

import json

import pytest

import penstock as ps

DECLARED = """
CREATE STREAM a (ts TIMESTAMP, k INT, x INT) WITH (format='json', path='a', timestamp='ts');
CREATE STREAM b (ts TIMESTAMP, k INT, x INT) WITH (format='json', path='b', timestamp='ts');
CREATE STREAM c (ts TIMESTAMP, k INT, x INT) WITH (format='json', path='c', timestamp='ts');
"""
FROM = "SELECT a.x FROM a [RANGE 1 MINUTE] {} JOIN b [RANGE 1 MINUTE] ON a.k = b.k"


def explained(select: str, **options: object) -> dict[str, float]:
    """The chosen plan's figures."""
    query = ps.sql(DECLARED + select, **options)  # type: ignore[arg-type]
    found: dict[str, float] = json.loads(query.explain("json"))["chosen"]
    return found


def test_who_is_preserved_is_charged_for_asking() -> None:
    inner, left, full = (explained(FROM.format(kind)) for kind in ("", "LEFT", "FULL"))
    assert "asking" not in inner
    assert left["needed"] == pytest.approx(inner["needed"] + left["asking"], rel=1e-3)
    assert full["asking"] == pytest.approx(2 * left["asking"], rel=1e-3)
    assert left["output_rate"] == inner["output_rate"]


def test_two_joins_ask_twice() -> None:
    one, both = (
        explained(FROM.format("LEFT") + more)
        for more in ("", " LEFT JOIN c [RANGE 1 MINUTE] ON a.k = c.k")
    )
    assert both["asking"] > 1.9 * one["asking"]


def test_a_semi_join_pays_for_no_pairs() -> None:
    """All that may be results are tuples of a: far fewer than there are pairs."""
    inner, semi, anti = (explained(FROM.format(kind)) for kind in ("", "LEFT SEMI", "LEFT ANTI"))
    assert semi["output_rate"] == anti["output_rate"] < inner["output_rate"] / 10
    assert semi["asking"] < semi["needed"] < inner["needed"]


def test_the_windows_of_a_view_ask_at_each_evaluation() -> None:
    view = FROM.replace("a.x", "COUNT(*) AS n").format("LEFT")
    often, seldom = (explained(f"{view} EVERY {n} SECONDS") for n in (2, 20))
    assert often["asking"] == pytest.approx(10 * seldom["asking"], rel=1e-3)


def test_nobody_is_told_to_shed_what_cannot_be_shed() -> None:
    """Not under an outer join; where it can be, it is said."""
    over = {"capacity": 1e-9}
    query = ps.sql(DECLARED + FROM.format(""), **over)  # type: ignore[arg-type]
    assert "--shed" in query.explain()
    left = ps.sql(DECLARED + FROM.format("LEFT"), **over).explain()  # type: ignore[arg-type]
    assert "asking for partners takes" in left
    assert "does not keep up" in left
    assert "--shed" not in left
