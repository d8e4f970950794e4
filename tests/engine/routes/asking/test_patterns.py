"""Which results several outer joins can have, and how each is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engine.routes.asking.joint_routes import joint_routes
from penstock.engine.routes.asking.patterns import patterns_of
from penstock.engine.rows.layout import Layout
from support.outer.outer_text import asked_query

CHAIN = "SELECT a.x FROM a [RANGE 4 SECONDS] LEFT JOIN b [NOW] ON a.k = b.k LEFT JOIN c [NOW] ON "


@pytest.mark.parametrize(
    ("select", "lacking"),
    [
        (f"{CHAIN} a.x = c.x", ["b", "b c", "c"]),
        (f"{CHAIN} b.x = c.x", ["b c", "c"]),
        (f"{CHAIN} a.x = c.x WHERE EXISTS (SELECT 1 FROM d WHERE d.k = a.k)", "all"),
        (f"{CHAIN} a.x = c.x WHERE EXISTS (SELECT 1 FROM d WHERE d.k = b.k)", ["", "c"]),
        (f"{CHAIN} b.x = c.x WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.k = c.k)", ["", "b c", "c"]),
    ],
)
def test_nothing_equals_what_is_lacking(
    select: str, lacking: list[str] | str, tmp_path: Path
) -> None:
    query = asked_query(select, tmp_path)
    assert query.outer is not None
    found = sorted(" ".join(sorted(each.absent)) for each in patterns_of(query, query.outer))
    assert found == (["", "b", "b c", "c"] if lacking == "all" else lacking)


@pytest.mark.parametrize(
    ("more", "picked"),
    [
        ("a.x IN (SELECT x FROM c [NOW])", ["coming", "met", "met"]),
        ("a.x IN (SELECT k FROM d)", ["coming", "met"]),
        ("NOT EXISTS (SELECT 1 FROM c [NOW] WHERE c.k = a.k)", ["ending"]),
    ],
)
def test_who_finds_a_result(more: str, picked: list[str], tmp_path: Path) -> None:
    """Who has two partners is found when it comes, or met by the later of them; who must have
    none in one of two, at its end."""
    where = f"WHERE a.k IN (SELECT k FROM b [NOW]) AND {more}"
    query = asked_query(f"SELECT a.x FROM a [RANGE 4 SECONDS] {where}", tmp_path)
    routes = list(joint_routes(Layout(query)))
    assert {route.driver for route in routes} == {"a"}
    assert [route.picks for route in routes] == picked
