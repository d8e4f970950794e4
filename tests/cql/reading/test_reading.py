"""Names, long lines and nested queries, as they are read."""

from __future__ import annotations

import pytest

from penstock.cql import parse
from penstock.errors import Caret, SqlError
from penstock.query.expression import render
from support.streams.auction import ask, complaint


def test_keywords_may_name_columns() -> None:
    query = parse(
        """
        CREATE STREAM s (timestamp TIMESTAMP, "limit" INT, date DATE, value INT)
        WITH (format = 'json', path = 'p', timestamp = 'timestamp');
        SELECT timestamp, s.limit, date, value AS "group" FROM s [NOW]
        """
    )
    assert [out.name for out in query.outputs] == ["timestamp", "limit", "date", "group"]


@pytest.mark.parametrize("column", [0, 300, 1_000, 1_999])
def test_of_a_long_line_what_is_around_a_mistake_is_shown(column: int) -> None:
    line = "".join(str(n % 10) for n in range(2_000))
    *_, shown, below = Caret(f"one\n{line}", 4 + column, 6 + column).excerpt().splitlines()
    caret = below.index("^")
    assert shown[caret] == line[column]
    assert len(below) <= len(shown) <= 170
    assert shown.startswith("2 | …") == (column > 100)
    assert shown.endswith("…") == (column < 1_900)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("#ts", "begin with #"),
        ("=n", "begin with ="),
        ("", "empty"),
    ],
)
def test_names_that_columns_of_the_state_cannot_have(name: str, reason: str) -> None:
    """State is kept by the names of streams and inputs; what begins so is ours."""
    assert reason in complaint(f'SELECT "{name}".price FROM bid [NOW] AS "{name}"')
    stream = f"""CREATE STREAM "{name}" (ts TIMESTAMP) WITH (format = 'rate', rate = 1)"""
    assert reason in complaint(f"{stream}; SELECT * FROM x [NOW]")


def test_other_odd_names_are_names() -> None:
    for name in ("my bids", "é", "a.b", "a:b", "a@b", "b#", "select", "x" * 300, "../x", "a/b"):
        assert ask(f'SELECT "{name}".price FROM bid [NOW] AS "{name}"').aliases == (name,)


def test_long_rows_of_conditions_are_not_deep() -> None:
    for condition in (" OR ".join(["bidder = 1"] * 5_000), f"bidder IN ({'auction, ' * 4_999} 1)"):
        (filter_,) = ask(f"SELECT * FROM bid [NOW] WHERE {condition}").filters
        assert len(render(filter_.expression)) > 50_000
    (few,) = ask("SELECT * FROM bid [NOW] WHERE bidder = 1 OR bidder = 2 OR bidder = 3").filters
    rendered = "((bid.bidder = 1) OR (bid.bidder = 2)) OR (bid.bidder = 3)"
    assert render(few.expression) == rendered


def test_a_query_may_not_be_nested_too_deeply() -> None:
    with pytest.raises(SqlError, match="nested too deeply") as caught:
        ask(f"SELECT {'(' * 5000}price{')' * 5000} FROM bid [NOW]")
    assert caught.value.place is not None
    assert caught.value.place.start == len("SELECT ") + 4_999


@pytest.mark.parametrize(
    ("format_", "select", "is_refused"),
    [
        ("format = 'json', path = 'a'", "m['x'] FROM s [NOW]", False),
        ("format = 'json', path = 'a'", "odd FROM s [NOW]", True),
        ("format = 'json', path = 'a'", "* FROM s [NOW]", True),
        ("format = 'json', path = 'a'", "ts, meta.city FROM s [NOW]", False),
        ("format = 'json', path = 'a'", "meta FROM s [NOW]", True),
        ("format = 'kafka', servers = 'h:1', topic = 't'", "odd[1] FROM s [NOW]", True),
        ("format = 'parquet', path = 'a'", "odd[1], * FROM s [NOW]", False),
    ],
)
def test_keys_that_are_no_texts_are_refused_where_json_is_read(
    format_: str, select: str, is_refused: bool
) -> None:
    columns = "ts TIMESTAMP, m MAP<STRING, INT>, odd MAP<INT, INT>"
    inside = "meta STRUCT<city: STRING, odd: ARRAY<MAP<DATE, INT>>>"
    text = f"CREATE STREAM s ({columns}, {inside}) WITH ({format_}, timestamp = 'ts');"
    if not is_refused:
        assert parse(f"{text} SELECT {select}").outputs
        return
    with pytest.raises(SqlError, match="a MAP in JSON has keys of type STRING") as caught:
        parse(f"{text} SELECT {select}")
    assert caught.value.place is not None
