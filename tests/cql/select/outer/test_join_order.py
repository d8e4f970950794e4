"""Right joins, wherever they stand, are left joins in another order."""

from __future__ import annotations

import pytest

from penstock.cql import parse

SOURCES = "".join(
    f"CREATE STREAM {name} (ts BIGINT, k INT, x INT) WITH (format = 'csv', path = '{name}', "
    "timestamp = 'ts', unit = 's');\n"
    for name in "abcd"
)
ORDERS = {
    "a [NOW] RIGHT JOIN b [NOW] ON a.k = b.k": "b:a",
    "a [NOW] LEFT JOIN b [NOW] ON a.k = b.k RIGHT JOIN c [NOW] ON a.x = c.x": "c:a ac:b",
    "a [NOW] RIGHT JOIN b [NOW] ON a.k = b.k RIGHT JOIN c [NOW] ON b.x = c.x": "c:b bc:a",
    "a [NOW] LEFT JOIN b [NOW] ON a.k = b.k RIGHT JOIN c [NOW] ON a.x = c.x LEFT JOIN d [NOW] "
    "ON b.x = d.x": "c:a ac:b abc:d",
    "a [NOW] RIGHT JOIN b [NOW] ON a.k = b.k JOIN c [NOW] ON b.k = c.k": "bc:a",
    "a [NOW] LEFT SEMI JOIN d [NOW] ON a.k = d.k LEFT JOIN b [NOW] ON a.k = b.k RIGHT JOIN c [NOW] "
    "ON a.x = c.x": "c:a ac:b abc:d",
}


@pytest.mark.parametrize("joins", ORDERS)
def test_what_stands_before_a_right_join_is_joined_to_it(joins: str) -> None:
    outer = parse(f"{SOURCES}SELECT {ORDERS[joins][0]}.x FROM {joins}").outer
    assert outer is not None
    made = (f"{''.join(join.preserved)}:{join.nullable}" for join in outer.joins)
    assert " ".join(made) == ORDERS[joins]
