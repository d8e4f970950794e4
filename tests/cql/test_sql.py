"""The language: what a script means, and what each mistake is answered."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.cql import parse
from penstock.errors import Caret, SqlError
from penstock.query import Column, DataType, Equality, Literal, Query, RowsWindow, TimeWindow
from penstock.query.expression import Call, Expression, render, walk
from penstock.query.window import NOW, UNBOUNDED, tumble
from support import paths
from support.golden import golden_cases

GOLDEN = paths.GOLDEN / "errors.yaml"

# Stand after the query, so that errors count its own lines.
DECLARATIONS = """
;
CREATE STREAM bid (
  ts TIMESTAMP, auction BIGINT, bidder INT, price DOUBLE, note STRING, day DATE, urgent BOOLEAN
) WITH (format = 'csv', path = 'bids', timestamp = 'ts');
CREATE STREAM auction (ts TIMESTAMP, id INT, seller BIGINT, reserve FLOAT)
WITH (format = 'json', path = 'auctions', timestamp = 'ts');
CREATE TABLE person (id BIGINT, name STRING) WITH (format = 'parquet', path = 'people');
"""


def ask(select: str) -> Query:
    """The query of a SELECT over an auction site."""
    return parse(select + DECLARATIONS)


def answer_to(script: str) -> Query | SqlError:
    """The query of a script, or what is wrong with it."""
    try:
        return parse(script)
    except SqlError as error:
        return error


def complaint(script: str) -> str:
    """What a wrong script is answered; a SELECT without CREATE is over the auction site."""
    is_whole = "CREATE" in script or "SELECT" not in script
    return f"{answer_to(script if is_whole else script + DECLARATIONS)}\n"


PRICE = Column("bid", "price", DataType.DOUBLE)
NOTE = Column("bid", "note", DataType.STRING)
TS = Column("bid", "ts", DataType.TIMESTAMP)
BIDDER = Column("bid", "bidder", DataType.INT)
AUCTION = Column("bid", "auction", DataType.BIGINT)


def condition(where: str) -> str:
    """The one condition on bid that a WHERE makes, as SQL."""
    (only,) = ask(f"SELECT price FROM bid [NOW] WHERE {where}").filters
    return str(only)


def output(expression: str) -> Any:
    """What a SELECT list of one expression over bid selects."""
    (only,) = ask(f"SELECT {expression} FROM bid [NOW]").outputs
    return only.expression


@pytest.mark.parametrize(
    ("written", "window"),
    [
        ("RANGE 10 SECONDS", TimeWindow(10_000_000)),
        ("range '10' second", TimeWindow(10_000_000)),
        ("RANGE '10 seconds'", TimeWindow(10_000_000)),
        ("RANGE 1.5 ms", TimeWindow(1_500)),
        ("RANGE 10ms", TimeWindow(10_000)),
        ("RANGE 7 MICROSECONDS", TimeWindow(7)),
        ("RANGE 2 HOURS SLIDE 1 DAY", TimeWindow(7_200_000_000, 86_400_000_000)),
        ("WINDOW 1 HOUR", TimeWindow(3_600_000_000)),
        ("WINDOW UNTIL NOW", UNBOUNDED),
        ("UNBOUNDED", UNBOUNDED),
        ("now", NOW),
        ("TUMBLE 1 min", tumble(60_000_000)),
        ("ROWS 100", RowsWindow(100)),
        ("partition  by AUCTION, bidder ROWS 3", RowsWindow(3, ("auction", "bidder"))),
    ],
)
def test_windows_of_every_kind_may_stand_before_and_after_the_alias(
    written: str, window: object
) -> None:
    for item in (f"bid [{written}] AS b", f"bid b [{written}]", f"bid AS b[{written}]"):
        (only,) = ask(f"SELECT price FROM {item}").inputs
        assert (only.alias, only.window) == ("b", window)


def test_a_stream_source_keeps_all_that_was_declared() -> None:
    (only,) = parse(
        """
        CREATE STREAM Bid (At BIGINT, price Real, note text) WITH (
          FORMAT = 'csv', path = 'data', timestamp = 'at', unit = 'ms', lateness = '5 seconds',
          idle = '1 min', rate = 1000, malformed = 'drop', delimiter = '\\t', max_files = 2
        );
        SELECT * FROM BID [NOW]
        """,
        "bids.cql",
    ).inputs
    source = only.source
    assert (only.alias, source.name, source.timestamp, source.unit) == ("Bid", "Bid", "At", "ms")
    assert (source.lateness, source.idle, source.rate) == (5_000_000, 60_000_000, 1000.0)
    assert source.malformed == "drop"
    assert [field.type for field in source.fields] == ["BIGINT", "FLOAT", "STRING"]
    assert dict(source.options) == {"header": True, "delimiter": "\t", "null": "", "max_files": 2}
    places = {key: place.text[place.start : place.end] for key, place in source.places.items()}
    assert places["name"] == "Bid"
    assert places["path"] == "'data'"
    assert source.places["path"].file == "bids.cql"


def test_sources_without_files() -> None:
    tick, made = parse(
        """
        CREATE STREAM tick WITH (format = 'rate', rate = 10);
        CREATE STREAM made (ts TIMESTAMP, k INT) WITH (
          format = 'synthetic', timestamp = 'ts', rate = 2.5, duration = '1 min', seed = 7,
          max_time = '5 s', values = 'k: uniform(0, 9)', start = '2026-01-01 00:00:00'
        );
        SELECT tick.value FROM tick [NOW], made [NOW] WHERE tick.value = made.k
        """
    ).inputs
    assert [field.name for field in tick.source.fields] == ["timestamp", "value"]
    assert (tick.source.timestamp, tick.source.rate) == ("timestamp", 10.0)
    assert dict(made.source.options) == {
        "arrivals": "constant",
        "duration": 60_000_000,
        "seed": 7,
        "max_time": 5_000_000,
        "values": "k: uniform(0, 9)",
        "start": "2026-01-01 00:00:00",
    }


def test_where_and_on_are_split_into_equalities_filters_and_thetas() -> None:
    query = ask(
        """
        SELECT b.price FROM bid [NOW] b JOIN auction [NOW] a ON b.auction = a.id AND b.price > 1,
        person p WHERE (b.bidder + 1 = p.id AND a.reserve < b.price) AND b.note = 'x'
        AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '5' SECONDS AND b.auction = b.bidder
        AND (a.id = p.id OR a.seller = p.id) AND a.id + p.id = b.auction
        """
    )
    assert [str(equality) for equality in query.equalities] == [
        "b.auction = a.id",
        "CAST(b.bidder AS BIGINT) + 1 = p.id",
    ]
    assert [str(each) for each in query.filters] == [
        "b.price > 1.0",
        "b.note = 'x'",
        "b.auction = CAST(b.bidder AS BIGINT)",
    ]
    assert [str(each) for each in query.thetas] == [
        "CAST(a.reserve AS DOUBLE) < b.price",
        "b.ts >= a.ts",
        "b.ts <= (a.ts + INTERVAL '5 SECONDS')",
        "(CAST(a.id AS BIGINT) = p.id) OR (a.seller = p.id)",
        "(CAST(a.id AS BIGINT) + p.id) = b.auction",
    ]
    assert [item.is_table for item in query.inputs] == [False, False, True]


def test_the_sides_of_an_equality_keep_their_types() -> None:
    query = ask("SELECT 1 FROM bid [NOW], auction [NOW] AS a WHERE a.id = bid.auction")
    assert query.equalities == (Equality(Column("a", "id", DataType.INT), AUCTION),)


def test_a_star_names_columns_after_their_input_where_two_have_the_same() -> None:
    names = [out.name for out in ask("SELECT * FROM auction [NOW] AS a, person AS p").outputs]
    assert names == ["ts", "a_id", "seller", "reserve", "p_id", "name"]
    twice = ask("SELECT x.*, y.ts AS other FROM auction [NOW] x, auction [ROWS 2] y")
    assert [out.name for out in twice.outputs] == ["ts", "id", "seller", "reserve", "other"]


def test_an_output_without_a_name_is_called_by_its_position() -> None:
    query = ask("SELECT b.PRICE, price * 2, note AS n, price + 1 FROM bid [NOW] AS b")
    assert [out.name for out in query.outputs] == ["price", "col2", "n", "col4"]


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


def test_keywords_may_name_columns() -> None:
    query = parse(
        """
        CREATE STREAM s (timestamp TIMESTAMP, "limit" INT, date DATE, value INT)
        WITH (format = 'json', path = 'p', timestamp = 'timestamp');
        SELECT timestamp, s.limit, date, value AS "group" FROM s [NOW]
        """
    )
    assert [out.name for out in query.outputs] == ["timestamp", "limit", "date", "group"]


@pytest.mark.parametrize("case", golden_cases(GOLDEN), ids=lambda case: case["says"])
def test_every_mistake_is_answered_with_its_place_and_a_hint(case: dict[str, str]) -> None:
    answer = complaint(case["query"])
    assert "hint: " in answer
    if "PENSTOCK_GOLDEN" not in os.environ:
        assert answer == case["error"]


@pytest.mark.parametrize(
    "case",
    [case for case in golden_cases(GOLDEN) if "followed" in case],
    ids=lambda case: case["says"],
)
def test_a_hint_that_is_followed_leads_to_a_query(case: dict[str, str]) -> None:
    followed = case["followed"]
    script = followed if "CREATE" in followed else followed + DECLARATIONS
    assert isinstance(answer_to(script), Query)


def test_golden_errors_are_written_anew_when_asked() -> None:
    cases = [{**case, "error": complaint(case["query"])} for case in golden_cases(GOLDEN)]
    text = "# Queries without CREATE are over the streams that test_sql.py declares.\n"
    text += "# `followed` is the query once the hint has been followed; it must be one.\n"
    text += yaml.dump(cases, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    if "PENSTOCK_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, to be read by people."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


BOOLEAN = DataType.BOOLEAN
LEAVES = {
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
FIRST = {DataType.BIGINT: AUCTION, DataType.DOUBLE: PRICE, DataType.STRING: NOTE}
FIRST[DataType.TIMESTAMP] = TS


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


JOIN = (
    """
SELECT b . price * 2 AS p , a . * , CASE WHEN b . urgent THEN 'x' ELSE LOWER ( note ) END
FROM bid [ RANGE 10 SECONDS SLIDE 1 ms ] AS b JOIN auction AS a [ PARTITION BY id ROWS 3 ]
ON b . auction = a . id , person p
WHERE b . ts >= a . ts - INTERVAL '5' SECONDS AND b . bidder = p . id AND NOT b . price
IN ( 1 , 2.5 ) AND note LIKE 'a%' AND CAST ( price AS INT ) BETWEEN - 1 AND 3 AND day IS NULL
"""
    + DECLARATIONS
)
VIEW = (
    """
SELECT b . auction , SUM ( price * 2 ) / COUNT ( * ) AS mean , COUNT ( b . * ) , MIN ( day )
FROM bid [ TUMBLE 10 SECONDS ] b , auction AS a [ TUMBLE 5 SECONDS ] WHERE b . auction = a . id
GROUP BY b . auction , LOWER ( note ) HAVING mean > 1 AND MAX ( a . id ) <> 3 EVERY 10 SECONDS
"""
    + DECLARATIONS
)


@pytest.mark.parametrize("script", [JOIN, VIEW], ids=["join", "view"])
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_any_mangled_script_is_a_query_or_an_error_with_place_and_hint(
    script: str, data: st.DataObject
) -> None:
    words = script.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        words[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.lists(st.sampled_from([*words, "'", "[", "?", "@", "{", "\n", "SELECT"]), max_size=2)
        )
    answer = answer_to(" ".join(words))
    if isinstance(answer, SqlError):
        assert answer.hint
        assert answer.place is not None
        assert 0 <= answer.place.start < answer.place.end <= len(answer.place.text) + 1
    else:
        assert answer.inputs
        assert answer.results


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


@pytest.mark.parametrize("column", [0, 300, 1_000, 1_999])
def test_of_a_long_line_what_is_around_a_mistake_is_shown(column) -> None:
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
def test_names_that_columns_of_the_state_cannot_have(name, reason) -> None:
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
