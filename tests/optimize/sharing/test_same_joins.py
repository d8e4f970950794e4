"""Which queries have a join in common, whatever else they ask."""

from __future__ import annotations

import pytest

from penstock.cql import parse
from penstock.optimize.sharing.common_join import Sharer, common_query, longest
from penstock.optimize.sharing.same_joins import NamedJoin, named_join
from penstock.query.window import NOW, UNBOUNDED, TimeWindow, tumble

DECLARED = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k INT, j INT, x DOUBLE) "
    f"WITH (format = 'csv', path = '{name}', timestamp = 'ts'); "
    for name in "abc"
)


def sharer(name: str, select: str) -> Sharer:
    query = parse(DECLARED + select)
    named = named_join(query)
    assert named is not None
    return Sharer(name, query, named)


def joined(select: str) -> NamedJoin | None:
    return named_join(parse(DECLARED + select))


def test_aliases_order_windows_and_conditions_do_not_matter() -> None:
    one = joined("SELECT p.x FROM a [NOW] AS p, b [RANGE 1 s] AS q WHERE p.k = q.j")
    other = joined(
        "SELECT COUNT(*) FROM b [UNBOUNDED] AS a, a [TUMBLE 1 s] AS b "
        "WHERE a.j = b.k AND a.x < 1 AND a.x < b.x GROUP BY a.k"
    )
    assert one is not None
    assert other is not None
    assert one.join == other.join
    assert dict(other.aliases) == {"a": "b", "b": "a"}


def test_other_equalities_are_other_joins() -> None:
    one = joined("SELECT a.x FROM a [NOW], b [NOW] WHERE a.k = b.j")
    for where in ("a.j = b.k", "a.k = b.j AND a.j = b.k"):
        other = joined(f"SELECT a.x FROM a [NOW], b [NOW] WHERE {where}")
        assert one is not None
        assert other is not None
        assert one.join != other.join


def test_inputs_of_one_source_are_told_apart_by_what_they_are_equal_to() -> None:
    one = joined("SELECT p.x FROM a [NOW] AS p, a [RANGE 1 s] AS q WHERE p.k = q.j")
    other = joined("SELECT p.x FROM a [NOW] AS p, a [RANGE 1 s] AS q WHERE q.k = p.j")
    assert one is not None
    assert other is not None
    assert one.join == other.join
    assert dict(one.aliases)["p"] == dict(other.aliases)["q"]


@pytest.mark.parametrize(
    "select",
    [
        "SELECT a.x FROM a [NOW]",
        "SELECT a.x FROM a [ROWS 3], b [NOW] WHERE a.k = b.k",
        "SELECT a.x FROM a [NOW] LEFT JOIN b [NOW] ON a.k = b.k",
    ],
)
def test_what_cannot_be_shared(select: str) -> None:
    assert joined(select) is None


def test_a_join_of_some_of_the_inputs_is_part_of_it() -> None:
    whole = joined("SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.j = c.j")
    part = joined("SELECT c.x FROM c [NOW], b [NOW] WHERE c.j = b.j")
    other = joined("SELECT c.x FROM c [NOW], b [NOW] WHERE c.k = b.k")
    assert whole is not None
    assert part is not None
    assert other is not None
    assert whole.join.holds(part.join)
    assert not part.join.holds(whole.join)
    assert not whole.join.holds(other.join)


def test_the_common_query_lets_pass_what_any_wants() -> None:
    base = "SELECT {} FROM a [RANGE {} s], b [NOW] WHERE a.k = b.k AND a.x > 1"
    one = sharer("one", base.format("a.j", 3) + " AND a.j = 1 AND b.x < 2")
    other = sharer("other", base.format("b.x", 5) + " AND a.j = 2 AND b.j < a.j")
    made = common_query(one.named.join, [one, other])
    assert [str(c) for c in made.filters] == ["a.x > 1.0", "(a.j = 1) OR (a.j = 2)"]
    assert made.thetas == ()
    assert made.input("a").window == TimeWindow(5_000_000)
    assert made.input("b").window == NOW
    assert [o.name for o in made.outputs] == ["a.j", "a.x", "b.j", "b.x"]


def test_a_condition_of_some_inputs_counts_for_those_who_have_them() -> None:
    whole = sharer(
        "whole",
        "SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.j = c.j "
        "AND c.x > 1 AND b.x < c.x AND a.x < b.x",
    )
    part = sharer("part", "SELECT a.x FROM a [NOW], b [NOW] WHERE a.k = b.k AND b.x > 2")
    made = common_query(whole.named.join, [whole, part])
    assert [str(c) for c in made.filters] == ["c.x > 1.0"]
    assert [str(c) for c in made.thetas] == ["b.x < c.x"]


@pytest.mark.parametrize(
    ("windows", "wanted"),
    [
        ([NOW, NOW], NOW),
        ([tumble(7), tumble(7)], tumble(7)),
        ([NOW, TimeWindow(5)], TimeWindow(5)),
        ([tumble(7), TimeWindow(5)], TimeWindow(6)),
        ([TimeWindow(8, 3), TimeWindow(2, 5)], TimeWindow(10)),
        ([TimeWindow(8), UNBOUNDED], UNBOUNDED),
    ],
)
def test_the_longest_window_covers_all(windows: list[TimeWindow], wanted: TimeWindow) -> None:
    assert longest(windows) == wanted
