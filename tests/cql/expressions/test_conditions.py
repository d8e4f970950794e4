"""Constants and conditions: their types, and that they render as they are meant."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.query import Column, DataType, Equality, Literal
from penstock.query.expression import Call, Expression, render, walk
from support.streams.auction import ask, complaint, condition

PRICE = Column("bid", "price", DataType.DOUBLE)
NOTE = Column("bid", "note", DataType.STRING)
TS = Column("bid", "ts", DataType.TIMESTAMP)
BIDDER = Column("bid", "bidder", DataType.INT)
AUCTION = Column("bid", "auction", DataType.BIGINT)


def output(expression: str) -> Any:
    """What a SELECT list of one expression over bid selects."""
    (only,) = ask(f"SELECT {expression} FROM bid [NOW]").outputs
    return only.expression


def test_the_sides_of_an_equality_keep_their_types() -> None:
    query = ask("SELECT 1 FROM bid [NOW], auction [NOW] AS a WHERE a.id = bid.auction")
    assert query.equalities == (Equality(Column("a", "id", DataType.INT), AUCTION),)


@pytest.mark.parametrize(
    ("written", "value", "type_"),
    [
        ("2147483647", 2147483647, "INT"),
        ("2147483648", 2147483648, "BIGINT"),
        ("-2147483648", -2147483648, "INT"),
        ("-9223372036854775808", -(2**63), "BIGINT"),
        ("-(-5)", 5, "INT"),
        ("1.0", 1.0, "DOUBLE"),
        ("1e3", 1000.0, "DOUBLE"),
        (".5", 0.5, "DOUBLE"),
        ("'it''s'", "it's", "STRING"),
        ("TRUE", True, "BOOLEAN"),
        ("DATE '2026-01-31'", date(2026, 1, 31), "DATE"),
        ("TIMESTAMP '2026-01-31 12:00:00'", datetime(2026, 1, 31, 12, tzinfo=UTC), "TIMESTAMP"),
        ("TIMESTAMP '2026-01-31T12:00+02:00'", datetime(2026, 1, 31, 10, tzinfo=UTC), "TIMESTAMP"),
    ],
)
def test_constants(written: str, value: Any, type_: str) -> None:
    assert output(written) == Literal(value, DataType(type_))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("bidder <> auction", "CAST(bid.bidder AS BIGINT) <> bid.auction"),
        ("bidder != 3", "bid.bidder <> 3"),
        ("bidder > 1.5", "CAST(bid.bidder AS DOUBLE) > 1.5"),
        ("auction IN (1, 2)", "bid.auction IN (1, 2)"),
        ("auction NOT IN (1, bidder)", None),
        ("price NOT BETWEEN 1 AND 2", "NOT ((bid.price >= 1.0) AND (bid.price <= 2.0))"),
        ("note NOT LIKE 'a%'", "NOT (bid.note LIKE 'a%')"),
        ("note IS NOT NULL", "bid.note IS NOT NULL"),
        ("NOT urgent OR urgent IS NULL", "(NOT bid.urgent) OR (bid.urgent IS NULL)"),
        ("day < '2026-01-31'", "bid.day < DATE '2026-01-31'"),
        ("day < ts", "CAST(bid.day AS TIMESTAMP) < bid.ts"),
        ("ts IN ('2026-01-31')", "bid.ts IN (TIMESTAMP '2026-01-31 00:00:00+00:00')"),
        ("ts > day + INTERVAL 1 DAY", "bid.ts > (CAST(bid.day AS TIMESTAMP) + INTERVAL '1 DAY')"),
        ("ts - INTERVAL '1 h' < '2026-01-31'", None),
        ("COALESCE(bidder, 0) = 1", "COALESCE(bid.bidder, 0) = 1"),
        ("GREATEST(bidder, price) = 1", "GREATEST(CAST(bid.bidder AS DOUBLE), bid.price) = 1.0"),
        (
            "LEAST(auction, CAST(price AS FLOAT), bidder) = 1",
            "LEAST(CAST(bid.auction AS DOUBLE), CAST(CAST(bid.price AS FLOAT) AS DOUBLE), "
            "CAST(bid.bidder AS DOUBLE)) = 1.0",
        ),
        ("note || 'x' = 'yx'", "CONCAT(bid.note, 'x') = 'yx'"),
        ("bidder / 2 = 1", "(CAST(bid.bidder AS DOUBLE) / 2.0) = 1.0"),
        ("bidder % 2 = 1", "(CAST(bid.bidder AS BIGINT) % 2) = 1"),
        ("price * 2 - 1 > -price", "((bid.price * 2.0) - 1.0) > -bid.price"),
        ("LENGTH(note) > 3", "LENGTH(bid.note) > 3"),
        ("ROUND(price, 2) = 1", "ROUND(bid.price, 2) = 1.0"),
        ("STARTS_WITH(SUBSTRING(note, 2), 'a')", "STARTS_WITH(SUBSTRING(bid.note, 2), 'a')"),
        ("CASE bidder WHEN 1 THEN urgent END", None),
        ("CAST(price AS INT) = 1", "CAST(bid.price AS INT) = 1"),
    ],
)
def test_conditions_are_typed_and_render_as_they_are_meant(written: str, meant: str | None) -> None:
    rendered = condition(written)
    assert meant is None or rendered == meant
    assert condition(rendered) == rendered


def test_case_without_else_gives_null() -> None:
    assert output("CASE WHEN price > 1 THEN bidder WHEN urgent THEN 3000000000 END") == Call(
        "case",
        (
            Call("gt", (PRICE, Literal(1.0, DataType.DOUBLE)), DataType.BOOLEAN),
            Call("cast", (BIDDER,), DataType.BIGINT),
            Column("bid", "urgent", DataType.BOOLEAN),
            Literal(3_000_000_000, DataType.BIGINT),
            Literal(None, DataType.BIGINT),
        ),
        DataType.BIGINT,
    )


BOOLEAN = DataType.BOOLEAN
LEAVES: dict[DataType, st.SearchStrategy[Expression]] = {
    DataType.BIGINT: st.one_of(
        st.sampled_from([AUCTION, Call("cast", (BIDDER,), DataType.BIGINT)]),
        st.integers(-(2**63), 2**63 - 1).map(lambda value: Literal(value, DataType.BIGINT)),
    ),
    DataType.DOUBLE: st.one_of(
        st.just(PRICE),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda v: Literal(v, DataType.DOUBLE)),
    ),
    DataType.STRING: st.one_of(
        st.just(NOTE), st.text(max_size=5).map(lambda value: Literal(value, DataType.STRING))
    ),
    DataType.TIMESTAMP: st.one_of(
        st.just(TS),
        st.datetimes().map(lambda v: Literal(v.replace(tzinfo=UTC), DataType.TIMESTAMP)),
    ),
}
FIRST = {
    DataType.BIGINT: AUCTION,
    DataType.DOUBLE: PRICE,
    DataType.STRING: NOTE,
    DataType.TIMESTAMP: TS,
}


@st.composite
def values(draw: st.DrawFn, type_: DataType, depth: int) -> Expression:
    """An expression of the type; operators begin with one that is no constant, to hold the type."""
    if depth == 0 or draw(st.booleans()):
        return draw(LEAVES[type_])
    first, second = draw(varying(type_, depth - 1)), draw(values(type_, depth - 1))
    shapes: list[tuple[str, tuple[Expression, ...]]] = [
        ("coalesce", (first, second)),
        ("greatest", (first, second, first)),
        ("case", (draw(conditions(depth - 1)), first, second)),
    ]
    match type_:
        case DataType.BIGINT | DataType.DOUBLE:
            operator = draw(st.sampled_from(["add", "subtract", "multiply", "modulo"]))
            shapes += [(operator, (first, second)), ("negate", (first,)), ("abs", (first,))]
        case DataType.STRING:
            shapes += [("concat", (first, second)), ("lower", (first,)), ("trim", (first,))]
        case DataType.TIMESTAMP:
            micros = Literal(draw(st.integers(0, 10**9)), DataType.BIGINT)
            shapes += [("add", (first, micros)), ("subtract", (first, micros))]
    return Call(*draw(st.sampled_from(shapes)), type_)


def varying(type_: DataType, depth: int) -> st.SearchStrategy[Expression]:
    """An expression that is no constant."""
    return values(type_, depth).map(lambda e: FIRST[type_] if isinstance(e, Literal) else e)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> Expression:
    """A condition over bid, typed as the parser types it."""
    type_ = draw(st.sampled_from(list(LEAVES)))
    first = draw(varying(type_, depth))
    kinds = ["eq", "ne", "lt", "le", "gt", "ge", "is_null", "is_not_null", "in"]
    kind = draw(st.sampled_from([*kinds, *(["and", "or", "not"] if depth else [])]))
    match kind:
        case "and" | "or":
            sides = draw(conditions(depth - 1)), draw(conditions(depth - 1))
            return Call(kind, sides, BOOLEAN)
        case "not":
            return Call(kind, (draw(conditions(depth - 1)),), BOOLEAN)
        case "is_null" | "is_not_null":
            return Call(kind, (first,), BOOLEAN)
        case "in":
            constants = LEAVES[type_].filter(lambda leaf: isinstance(leaf, Literal))
            return Call(kind, (first, draw(constants), draw(constants)), BOOLEAN)
    return Call(kind, (first, draw(values(type_, depth))), BOOLEAN)


def conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        return [part for side in condition.arguments for part in conjuncts(side)]
    return [condition]


@settings(deadline=None, max_examples=150)
@given(st.lists(conditions(), min_size=1, max_size=3))
def test_a_rendered_conjunction_parses_to_itself(parts: list[Expression]) -> None:
    where = " AND ".join(f"({render(part)})" for part in parts)
    query = ask(f"SELECT price FROM bid [NOW] WHERE {where}")
    expected = [each for part in parts for each in conjuncts(part)]
    assert [each.expression for each in query.filters] == expected


def test_numbers_of_thousands_of_digits_are_told_apart() -> None:
    """Python itself refuses to read so many."""
    many = "1" * 5_000
    for select, reason in {
        f"SELECT * FROM bid [NOW] WHERE price > {many}": "does not fit a BIGINT",
        f"SELECT * FROM bid [NOW] WHERE price > -{many}": "does not fit a BIGINT",
        f"SELECT * FROM bid [NOW] WHERE price > {many}.5": "does not fit a DOUBLE",
        f"SELECT * FROM bid [ROWS {many}]": "cannot hold so many rows",
        f"SELECT * FROM bid [RANGE {many} DAYS]": "is too long",
        f"SELECT COUNT(*) FROM bid [NOW] EVERY {many} s": "is too long",
        f"SELECT * FROM bid [NOW] WHERE ROUND(price, {many}) > 1": "does not fit a BIGINT",
        f"SELECT * FROM a; CREATE TABLE a (x INT) WITH (format = {many})": "format must be",
    }.items():
        said = complaint(select)
        assert reason in said
        # Of a long line only what is around the mistake is shown.
        assert max(map(len, said.splitlines())) < 200
        assert "^^^" in said
    (condition,) = ask(f"SELECT * FROM bid [NOW] WHERE auction > {'0' * 5_000}7").filters
    assert Literal(7, DataType.BIGINT) in walk(condition.expression)
