"""Scripts with several mistakes: each is found beside the others, and nothing but them."""

from __future__ import annotations

import pytest

from penstock.cql import mistakes
from penstock.errors import SqlError
from support import paths
from support.golden import golden_cases

GOLDEN = paths.GOLDEN / "mistakes.yaml"
STREAMS = """
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, price DOUBLE, note STRING)
WITH (format='csv', path='b', timestamp='ts');
CREATE STREAM auction (ts TIMESTAMP, id INT, seller BIGINT)
WITH (format='json', path='a', timestamp='ts');
CREATE TABLE person (id BIGINT, name STRING) WITH (format='parquet', path='p');
"""


def shown(error: SqlError) -> str:
    """A mistake in one line: what the caret stands under, the message, the hint."""
    assert error.place is not None
    marked = error.place.text[error.place.start : error.place.end].replace("\n", " ")
    return f"{marked} | {error.message} | {error.hint}"


def over_streams(script: str) -> list[str]:
    """What is found in a script that may have STREAMS in it."""
    return [shown(error) for error in mistakes(script.replace("STREAMS;", STREAMS))]


@pytest.mark.parametrize("case", golden_cases(GOLDEN), ids=lambda case: case["says"])
def test_all_mistakes_are_found_and_none_that_only_follows(case: dict[str, str]) -> None:
    found = over_streams(case["script"])
    assert found == case["found"].splitlines()
    assert len(found) > 1


READERS = "SELECT s.ts, s.x + 1 AS y FROM s [NOW] INTO one; SELECT * FROM s [ROWS 3] INTO two; "


@pytest.mark.parametrize(
    "create",
    [
        "CREATE STREAM s (x INT, ts TIMESTAMP",
        "CREATE STREAM s (x INT ts TIMESTAMP) WITH (format='csv', path='p', timestamp='ts')",
        "CREATE STREAM s (x INT, ts TIMESTMP) WITH (format='csv', path='p', timestamp='ts')",
        "CREATE STREAM s (x INT, ts TIMESTAMP WITH (format='csv', path='p', timestamp='ts')",
        "CREATE STREAM s",
        "CREATE STREAM s WITH (format='nexmark')",
        "CREATE TABLE s AS SELECT price FROM bid [NOW]",
        "CREATE VIEW s (a, b) AS SELECT price FROM bid [NOW]",
        "CREATE VIEW s AS SELECT price FROM bid [NOW]",
        "CREATE STREAM s AS SELECT price FROM bid [NOW] oh no",
        "CREATE STREAM s AS SELECT FROM bid [NOW]",
        "CREATE STREAM s AS SELECT price, COUNT(*) FROM bid [NOW] GROUP BY price",
        "CREATE STREAM s AS SELECT * FROM s [NOW]",
        "CREATE STREAM s AS SELECT 'oh FROM bid [NOW]",
        "CREATE STREAM s AS (SELECT price FROM bid [NOW]",
        "CREATE MATERIALIZED s AS SELECT price FROM bid [NOW]",
        "CREATE STREAM s AS SELECT price FROM bid [NOW] UNION ALL SELECT FROM auction [NOW]",
    ],
)
def test_those_that_read_what_cannot_be_understood_have_no_mistake(create: str) -> None:
    found = over_streams(f"{create};\n{READERS}STREAMS;")
    assert len(found) == 1, found


def test_a_script_that_declares_only_needs_a_select_whatever_else_is_wrong() -> None:
    found = over_streams("CREATE STREAM s (x INT, ts TIMESTAMP) WITH (format='csv', timestamp='t')")
    assert [line.split(" | ")[1] for line in found] == [
        *("stream s has no path", "s has no column t", "the script has no SELECT")
    ]


def test_secrets_are_shown_by_no_mistake_of_a_statement_that_is_not_closed() -> None:
    script = (
        "CREATE STREAM k (ts TIMESTAMP) WITH (format='kafka', 'kafka.sasl.password'='hunter2', "
        "topic='t);\nSELECT nope FROM bid [NOW];STREAMS;"
    )
    found = mistakes(script.replace("STREAMS;", STREAMS))
    assert [error.message for error in found] == [
        *("this text is never closed", "bid has no column nope")
    ]
    assert not [error for error in found if "hunter2" in str(error)]


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT auction,, price, FROM bid [NOW]", [15, 23]),
        ("SELECT , price FROM bid [NOW]", [8]),
        ("SELECT ABS(price, ) AS p FROM bid [NOW]", [17]),
        ("SELECT price FROM bid [NOW], WHERE price > 3", [28]),
        ("SELECT auction, COUNT(*) AS n FROM bid [NOW] GROUP BY auction, EVERY 1 SECOND", [62]),
    ],
)
def test_commas_stand_between_two(query: str, columns: list[int]) -> None:
    found = mistakes(query + ";" + STREAMS)
    assert all("this comma" in error.message for error in found)
    assert [error.place.start + 1 for error in found if error.place] == columns


def test_there_is_no_offset() -> None:
    (found,) = mistakes("SELECT price FROM bid [NOW] OFFSET 5;" + STREAMS)
    assert found.message == "OFFSET is not in the language"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT auction, COUNT(*) AS n FROM bid [NOW] GROUP /* a */ -- b\n BY auction EVERY 1 s",
        "SELECT price FROM bid [PARTITION /* c */ BY auction ROWS 3]",
        "SELECT '/* no comment */' AS s, price FROM bid [NOW] WHERE price > 3 -- the end\n",
        "CREATE STREAM x (ts TIMESTAMP, p DECIMAL(12, /* d */ 2)) WITH (format = 'parquet', "
        "path = 'x', timestamp = 'ts'); SELECT p FROM x [NOW]",
    ],
)
def test_comments_stand_anywhere(query: str) -> None:
    assert mistakes(f"{query};{STREAMS}") == []
