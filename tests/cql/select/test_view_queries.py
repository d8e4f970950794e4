"""Views as they are written: groups, aggregates, types and when they are evaluated."""

from __future__ import annotations

import pytest

from penstock.cql import parse
from penstock.query import Column, DataType
from penstock.query.expression import render
from penstock.query.view import EAGER
from support.streams.viewed import DECLARATIONS, ask

SECOND = 1_000_000
HOUR = 3_600 * SECOND


def test_a_view_reads_what_the_join_gives_and_each_thing_once() -> None:
    query = ask(
        """SELECT A.k, SUM(B.z) + A.k AS more, sum(z) / COUNT(*) AS mean, MAX(A.k), COUNT(B.*)
        FROM A [RANGE 5 SECONDS], B [ROWS 3] WHERE A.k = B.k
        GROUP BY A.k HAVING COUNT(1) > 2 AND MIN(y) < 3 EVERY 10 SECONDS"""
    )
    view = query.view
    assert view is not None
    assert [(o.name, render(o.expression)) for o in query.outputs] == [
        ("#g0", "A.k"),
        ("#a0", "B.z"),
        ("#a1", "A.y"),
    ]
    assert view.groups == (Column("", "#g0", DataType.INT),)
    assert [(a.name, a.function, a.argument and a.argument.name) for a in view.aggregates] == [
        ("#0", "sum", "#a0"),
        ("#1", "count", None),
        ("#2", "max", "#g0"),
        ("#3", "min", "#a1"),
    ]
    assert [(o.name, render(o.expression)) for o in view.outputs] == [
        ("k", "#g0"),
        ("more", "#0 + CAST(#g0 AS BIGINT)"),
        ("mean", "CAST(#0 AS DOUBLE) / CAST(#1 AS DOUBLE)"),
        ("col4", "#2"),
        ("col5", "#1"),
    ]
    assert view.having is not None
    assert render(view.having) == "(#1 > 2) AND (#3 < 3.0)"
    assert view.every == 10 * SECOND
    assert query.results == view.outputs


@pytest.mark.parametrize(
    ("aggregate", "argument", "type_"),
    [
        ("COUNT(*)", None, "BIGINT"),
        ("COUNT(A.*)", None, "BIGINT"),
        ("COUNT(1)", None, "BIGINT"),
        ("COUNT(s)", "A.s", "BIGINT"),
        ("SUM(x)", "CAST(A.x AS BIGINT)", "BIGINT"),
        ("SUM(f)", "CAST(A.f AS DOUBLE)", "DOUBLE"),
        ("SUM(x * y)", "CAST(A.x AS DOUBLE) * A.y", "DOUBLE"),
        ("AVG(x)", "CAST(A.x AS DOUBLE)", "DOUBLE"),
        ("MIN(x)", "A.x", "INT"),
        ("MAX(f)", "A.f", "FLOAT"),
        ("MAX(s)", "A.s", "STRING"),
        ("min(d)", "A.d", "DATE"),
        ("Max(ts)", "A.ts", "TIMESTAMP"),
        (
            "SUM(CASE WHEN b THEN x END)",
            "CAST(CASE WHEN A.b THEN A.x ELSE NULL END AS BIGINT)",
            "BIGINT",
        ),
        ("STDDEV(x)", "CAST(A.x AS BIGINT)", "DOUBLE"),
        ("VAR_POP(f)", "CAST(A.f AS DOUBLE)", "DOUBLE"),
        ("MAX_BY(s, y)", "PAIR(A.y, A.s)", "STRING"),
        (
            "min_by(x, d) FILTER (WHERE b)",
            "PAIR(CASE WHEN A.b THEN A.d ELSE NULL END, CASE WHEN A.b THEN A.x ELSE NULL END)",
            "INT",
        ),
        (
            "LAST(x)",
            "PAIR(CASE WHEN A.x IS NOT NULL THEN A.ts ELSE NULL END, A.x)",
            "INT",
        ),
        (
            "FIRST(b) IGNORE NULLS",
            "PAIR(CASE WHEN A.b IS NOT NULL THEN A.ts ELSE NULL END, A.b)",
            "BOOLEAN",
        ),
        ("COUNT(DISTINCT s)", "A.s", "BIGINT"),
        ("SUM(DISTINCT x)", "CAST(A.x AS BIGINT)", "BIGINT"),
        ("AVG(DISTINCT f)", "CAST(A.f AS DOUBLE)", "DOUBLE"),
        ("MAX(DISTINCT s)", "A.s", "STRING"),
        ("COUNT(DISTINCT 1)", "1", "BIGINT"),
        ("APPROX_COUNT_DISTINCT(s)", "A.s", "BIGINT"),
        ("APPROX_PERCENTILE(x, 0.95)", "CAST(A.x AS DOUBLE)", "DOUBLE"),
        ("BOOL_OR(b)", "A.b", "BOOLEAN"),
        ("any(x > 1)", "A.x > 1", "BOOLEAN"),
        ("EVERY(b)", "A.b", "BOOLEAN"),
        ("COUNT(*) FILTER (WHERE b)", "CASE WHEN A.b THEN 1 ELSE NULL END", "BIGINT"),
        ("MAX(s) FILTER (WHERE x > 1)", "CASE WHEN A.x > 1 THEN A.s ELSE NULL END", "STRING"),
        (
            "SUM(x) FILTER (WHERE b)",
            "CASE WHEN A.b THEN CAST(A.x AS BIGINT) ELSE NULL END",
            "BIGINT",
        ),
    ],
)
def test_aggregates_are_typed(aggregate: str, argument: str | None, type_: str) -> None:
    query = ask(f"SELECT {aggregate} AS v FROM A [NOW]")
    assert query.view is not None
    assert query.view.outputs[0].expression.type == type_
    joined = [render(output.expression) for output in query.outputs]
    assert joined == ([] if argument is None else [argument])


@pytest.mark.parametrize(
    ("clauses", "every"),
    [
        ("A [RANGE 5 SECONDS]", EAGER),
        ("A [ROWS 5], B [UNBOUNDED]", EAGER),
        ("A [NOW] EVERY 1.5 min", 90 * SECOND),
        ("A [NOW] every EVERY '2 hours'", 2 * HOUR),
        ("A [TUMBLE 1 MINUTE]", 60 * SECOND),
        ("A [TUMBLE 1 MINUTE], B [TUMBLE 20 SECONDS]", 20 * SECOND),
        ("A [TUMBLE 1 MINUTE], B [RANGE 20 SECONDS SLIDE 10 SECONDS]", 60 * SECOND),
        ("A [TUMBLE 1 MINUTE] EVERY 10 SECONDS", 10 * SECOND),
    ],
)
def test_when_a_view_is_evaluated(clauses: str, every: int) -> None:
    view = ask(f"SELECT COUNT(*) FROM {clauses}").view
    assert view is not None
    assert view.every == every


def test_groups_may_be_expressions_and_names_of_the_select_list() -> None:
    query = ask("SELECT x + k AS both, (x + k) * 2 AS twice FROM A [NOW] GROUP BY BOTH, s, s")
    assert query.view is not None
    assert [render(output.expression) for output in query.outputs] == [
        "CAST(A.x AS BIGINT) + CAST(A.k AS BIGINT)",
        "A.s",
    ]
    assert [render(output.expression) for output in query.view.outputs] == ["#g0", "#g0 * 2"]


def test_a_column_goes_before_a_name_of_the_select_list() -> None:
    query = ask(
        "SELECT x + 0 AS k, COUNT(*) AS n FROM A [NOW] GROUP BY k, x HAVING n > 1 AND k > 2"
    )
    assert query.view is not None
    assert [render(output.expression) for output in query.outputs] == ["A.k", "A.x"]
    assert query.view.having is not None
    assert render(query.view.having) == "(#0 > 1) AND (#g0 > 2)"


def test_select_distinct_is_grouped_by_all_that_is_selected() -> None:
    query = ask("SELECT DISTINCT k, x + 1 AS y1, k AS again, 7 AS seven FROM A [NOW] EVERY 5 s")
    assert [(o.name, render(o.expression)) for o in query.outputs] == [
        ("#g0", "A.k"),
        ("#g1", "CAST(A.x AS BIGINT) + 1"),
    ]
    view = query.view
    assert view is not None
    assert [(o.name, render(o.expression)) for o in view.outputs] == [
        ("k", "#g0"),
        ("y1", "#g1"),
        ("again", "#g0"),
        ("seven", "7"),
    ]
    assert view.aggregates == ()
    assert view.every == 5 * SECOND
    stars = ask("SELECT DISTINCT B.* FROM A [NOW], B [NOW]").view
    assert stars is not None
    assert [output.name for output in stars.outputs] == ["ts", "k", "z"]


def test_every_is_an_aggregate_too() -> None:
    query = ask("SELECT EVERY(x > 1) AS v FROM A [NOW] HAVING EVERY (b) EVERY 10 SECONDS")
    view = query.view
    assert view is not None
    assert view.every == 10 * SECOND
    assert [(a.function, a.written) for a in view.aggregates] == [("min", "BOOL_AND")] * 2


def test_every_is_still_a_name() -> None:
    declared = DECLARATIONS.replace("x INT", "every INT")
    query = parse("SELECT SUM(every) AS every FROM A [NOW] WHERE every = 10" + declared)
    assert query.view is not None
    assert (query.view.every, [str(f) for f in query.filters]) == (EAGER, ["A.every = 10"])
