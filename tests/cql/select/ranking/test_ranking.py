"""ORDER BY … LIMIT and QUALIFY: which rows are the first, as a query says it."""

from __future__ import annotations

import pytest

from penstock.cql import parse_script
from penstock.query import Query, View
from penstock.query.ranking import NUMBER
from penstock.query.script import derived_source
from support.streams.auction import DECLARATIONS

GROUPED = "SELECT auction, COUNT(*) AS n, MAX(price) AS price FROM bid [NOW] GROUP BY auction"
NUMBERED = (
    "SELECT auction, price, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place "
    "FROM bid [NOW]"
)


def asked(select: str) -> Query:
    return parse_script(DECLARATIONS + select).members[-1].query


def view(select: str) -> View:
    found = asked(select).view
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("clauses", "meaning"),
    [
        ("ORDER BY n LIMIT 3", "first 3 by #0"),
        ("ORDER BY n DESC, auction LIMIT 3", "first 3 by #0 DESC, #g0"),
        ("ORDER BY COUNT(*) DESC NULLS FIRST LIMIT 1", "first 1 by #0 DESC NULLS FIRST"),
        ("ORDER BY n DESC NULLS LAST LIMIT 1", "first 1 by #0 DESC"),
        ("ORDER BY n ASC NULLS LAST LIMIT 1", "first 1 by #0 NULLS LAST"),
        # What is selected under a name goes before the column of that name.
        ("ORDER BY price LIMIT 3", "first 3 by #1"),
        ("ORDER BY AVG(price), n + auction LIMIT 3", "first 3 by #2, #0 + #g0"),
        ("ORDER BY n, n DESC LIMIT 3", "first 3 by #0"),
        ("QUALIFY ROW_NUMBER() OVER (ORDER BY n) <= 3", "first 3 by #0"),
        ("QUALIFY ROW_NUMBER() OVER (ORDER BY n) < 3", "first 2 by #0"),
        ("QUALIFY (3 >= ROW_NUMBER() OVER (ORDER BY n))", "first 3 by #0"),
        (
            "QUALIFY ROW_NUMBER() OVER (PARTITION BY n, auction % 2 ORDER BY MAX(price)) = 1",
            "first 1 of each #0, #g0 % 2 by #1",
        ),
    ],
)
def test_the_first_rows_of_groups(clauses: str, meaning: str) -> None:
    found = view(f"{GROUPED} {clauses}")
    assert str(found.top) == meaning
    assert found.key == found.groups
    for every in (f"{clauses} EVERY 5 SECONDS", f"EVERY 5 SECONDS {clauses}"):
        again = view(f"{GROUPED} {every}")
        assert again.top == found.top
        assert again.every == 5_000_000


def test_what_is_only_ordered_by_is_aggregated_too() -> None:
    found = view("SELECT auction FROM bid [NOW] GROUP BY auction ORDER BY SUM(price) LIMIT 3")
    assert [each.function for each in found.aggregates] == ["sum"]
    assert [output.name for output in found.outputs] == ["auction"]


def test_the_number_of_a_row_is_an_output() -> None:
    number = "ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC)"
    for qualify in ("place <= 3", f"{number} <= 3"):
        found = view(
            f"SELECT auction, {number} AS place FROM bid [NOW] GROUP BY auction QUALIFY {qualify}"
        )
        assert [o.expression for o in found.outputs] == [*found.groups, NUMBER]


@pytest.mark.parametrize(
    ("select", "key"),
    [
        (f"{NUMBERED} QUALIFY place <= 3 EVERY 1 SECOND", ("auction", "place")),
        (f"{NUMBERED} EVERY 1 SECOND QUALIFY place = 1", ("auction",)),
        (f"SELECT * FROM ({NUMBERED}) WHERE place <= 3 EVERY 1 SECOND", ("auction", "place")),
        (f"SELECT n.place, auction FROM ({NUMBERED} EVERY 1 SECOND) AS n WHERE n.place < 4",
         ("place", "auction")),
        (f"SELECT price, auction FROM ({NUMBERED}) n WHERE place = 1 EVERY 1 SECOND",
         ("auction",)),
        ("SELECT price FROM bid [TUMBLE 1 MINUTE] ORDER BY price LIMIT 1", ()),
    ],
)  # fmt: skip
def test_the_first_tuples_are_told_apart_by_part_and_number(
    select: str, key: tuple[str, ...]
) -> None:
    query = asked(select)
    source = derived_source("top", query)
    assert source.hidden is None
    assert source.key == key


def test_the_first_tuples_are_counted_and_ordered_by_all_that_is_selected() -> None:
    found = view("SELECT note, price + 1 AS more FROM bid [NOW] ORDER BY ts LIMIT 4 EVERY 1 SECOND")
    assert found.top is not None
    assert found.top.copies == found.aggregates[0].column
    assert [order.by for order in found.top.orders(found.groups)] == [
        found.groups[2],
        *found.groups[:2],
    ]


def test_rows_of_a_part_stay_together() -> None:
    by_seller = "SELECT seller, id, COUNT(*) AS n FROM auction [NOW] GROUP BY seller, id QUALIFY "
    found = view(f"{by_seller} ROW_NUMBER() OVER (PARTITION BY id, n ORDER BY n) <= 2")
    assert found.placed_by == found.groups[1:]
    assert view(f"{GROUPED} ORDER BY n LIMIT 3").placed_by == ()
    assert view(GROUPED).placed_by == view(GROUPED).groups


def test_first_rows_of_first_rows() -> None:
    script = parse_script(
        f"{DECLARATIONS} CREATE VIEW most AS {GROUPED} ORDER BY n DESC LIMIT 10; "
        "SELECT auction, n FROM most ORDER BY price LIMIT 3 EVERY 1 SECOND"
    )
    assert [str(m.query.view.top) for m in script.members if m.query.view] == [
        "first 10 by #0 DESC",
        "first 3 by #g2",
    ]
