"""What is guessed where statistics are missing, and by which rule."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest

import penstock
from penstock.cql import parse
from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.costs import Costs
from penstock.stats.files.load import from_data, loads
from penstock.stats.guess import DEFAULT_COSTS, DEFAULT_RATE, DEFAULT_TABLE, complete
from penstock.stats.known import Known

STREAMS = "".join(
    f"CREATE STREAM {name} (ts BIGINT, a BIGINT, b BIGINT, x DOUBLE, s STRING, f BOOLEAN)"
    f" WITH (format = 'csv', path = 'p', timestamp = 'ts', unit = 'us');\n"
    for name in "ABCD"
)
TABLE = "CREATE TABLE T (id BIGINT, name STRING) WITH (format = 'csv', path = 't');\n"


def ask(where: str, inputs: str = "A [NOW], B [NOW], C [NOW], D [NOW]") -> Query:
    return parse(f"{STREAMS}{TABLE}SELECT * FROM {inputs} WHERE {where}")


@cache
def one_class() -> Query:
    """Four streams that are joined on one key."""
    return ask("A.a = B.a AND B.a = C.a AND C.a = D.a")


def known(query: Query, stats: str = "") -> Known:
    return complete(query, loads(stats, query))


def equal(figures: Known, *aliases: str) -> Figure:
    return figures.groups[0][frozenset(aliases)]


def guessed(value: float, rule: str) -> Figure:
    about: Any = pytest.approx(value)
    return Figure(about, "guessed", rule=rule)


def test_nothing_given_is_all_guessed() -> None:
    figures = complete(one_class())
    assert figures.rates["A"] == guessed(DEFAULT_RATE, "1,000 tuples/s")
    assert figures.cardinalities == {}
    assert figures.costs == DEFAULT_COSTS
    assert figures.capacity == guessed(1.0, "one core")
    assert (figures.rows_warmup, figures.horizon) == (60.0, None)
    assert len(figures.groups[0]) == 11
    assert equal(figures, "A", "B") == guessed(0.01, "equal keys 0.01")
    assert equal(figures, "A", "B", "C", "D") == guessed(1e-6, "equal keys 0.01")


def test_a_rate_is_given_declared_or_like_the_others() -> None:
    script = STREAMS.replace("unit = 'us'", "unit = 'us', rate = 40", 1)
    query = parse(f"{script}SELECT * FROM A [NOW], B [NOW], C [NOW] WHERE A.a = B.a")
    figures = known(query, "[streams.B]\nrate = 10.0")
    assert figures.rates["A"] == Figure(40.0, "declared")
    assert figures.rates["B"] == Figure(10.0, "declared")
    assert figures.rates["C"] == guessed(20.0, "geometric mean of the other streams")


def test_inputs_of_one_stream_share_its_figures() -> None:
    query = ask("X.a = Y.a", "A AS X [NOW], A AS Y [NOW]")
    figures = known(query, "[streams.Y]\nrate = 10.0\ndistinct = {a = 4}")
    assert figures.rates["X"] == figures.rates["Y"] == Figure(10.0, "declared")
    assert equal(figures, "X", "Y") == guessed(0.25, "1/distinct")


def test_a_table_has_rows_and_a_unique_key() -> None:
    query = ask("A.a = T.id", "A [NOW], T")
    assert known(query).cardinalities["T"] == guessed(DEFAULT_TABLE, "1,000 rows")
    figures = known(query, "[streams.T]\ncardinality = 50")
    assert figures.cardinalities == {"T": Figure(50.0, "declared")}
    assert list(figures.rates) == ["A"]
    assert equal(figures, "A", "T") == guessed(1 / 50, "1/distinct of one side")


@pytest.mark.parametrize(("end", "count"), [("rows = 500", 500), ("duration = '2 seconds'", 200)])
def test_a_synthetic_stream_may_end(end: str, count: float) -> None:
    query = parse(
        "CREATE STREAM S (ts BIGINT, a INT) WITH (format = 'synthetic', timestamp = 'ts', "
        f"unit = 'us', rate = 100, {end}); SELECT * FROM S [NOW], S AS R [NOW] WHERE S.a = R.a"
    )
    assert complete(query).cardinalities["S"] == Figure(count, "declared")


def test_distinct_counts_contain_each_other() -> None:
    stats = "".join(
        f"[streams.{n}]\ndistinct = {{a = {d}}}\n"
        for n, d in {"A": 8, "B": 2, "C": 4, "D": 5}.items()
    )
    figures = known(one_class(), stats)
    assert equal(figures, "A", "B") == guessed(1 / 8, "1/distinct")
    assert equal(figures, "B", "C", "D") == guessed(1 / (4 * 5), "1/distinct")
    assert equal(figures, "A", "B", "C", "D") == guessed(1 / (4 * 5 * 8), "1/distinct")


def test_given_pairs_multiply_along_the_best_tree() -> None:
    pairs = {"A.a = B.a": 0.5, "B.a = C.a": 0.2, "A.a = C.a": 0.4, "C.a = D.a": 0.1}
    joins = {text: {"selectivity": value} for text, value in pairs.items()}
    figures = complete(one_class(), from_data({"joins": joins}, one_class()))
    assert equal(figures, "A", "B") == Figure(0.5, "declared")
    assert equal(figures, "A", "B", "C").value == pytest.approx(0.5 * 0.4)
    assert equal(figures, "A", "B", "C").rule == "pairs multiplied"
    between = "geometric mean of the pairs between"
    assert equal(figures, "A", "D") == guessed((0.4 * 0.1) ** 0.5, between)
    assert equal(figures, "B", "D") == guessed((0.2 * 0.1) ** 0.5, between)


def test_a_given_group_counts_before_its_pairs_and_for_them() -> None:
    figures = known(one_class(), "[joins]\n'A.a = B.a = C.a' = {selectivity = 0.04}")
    assert equal(figures, "A", "B", "C") == Figure(0.04, "declared")
    assert equal(figures, "A", "C") == guessed(0.2, "root of a larger group")
    assert equal(figures, "A", "D") == guessed(0.01, "equal keys 0.01")


def test_a_pair_that_never_agrees_is_no_trouble() -> None:
    stats = "[joins]\n'A.a = B.a' = {selectivity = 0}\n'B.a = C.a' = {selectivity = 0.5}"
    figures = known(one_class(), stats)
    assert equal(figures, "A", "C").value == 0
    assert equal(figures, "A", "B", "C").value == 0


def test_the_tree_is_the_best_of_all() -> None:
    generator = np.random.default_rng(7)
    pairs = {pair: float(generator.random()) for pair in combinations("ABCD", 2)}
    joins = {f"{a}.a = {b}.a": {"selectivity": s} for (a, b), s in pairs.items()}
    figures = complete(one_class(), from_data({"joins": joins}, one_class()))
    trees = [edges for edges in combinations(pairs, 3) if is_tree(edges)]
    assert len(trees) == 16
    best = max(prod(pairs[edge] for edge in edges) for edges in trees)
    assert equal(figures, *"ABCD").value == pytest.approx(best)


def is_tree(edges: tuple[tuple[str, str], ...]) -> bool:
    """Whether three edges connect four inputs."""
    reached = set(edges[0])
    for _ in edges:
        for edge in edges:
            reached |= set(edge) if reached & set(edge) else set()
    return len(reached) == 4


def test_the_parts_of_a_key_multiply_unless_they_are_given_together() -> None:
    query = ask("A.a = B.a AND A.b = B.b", "A [NOW], B [NOW]")
    parts = "[joins]\n'A.a = B.a' = {selectivity = 0.5}\n'A.b = B.b' = {selectivity = 0.1}\n"
    assert equal(known(query, parts), "A", "B") == guessed(0.05, "parts multiplied")
    whole = "'A.a = B.a AND A.b = B.b' = {selectivity = 0.09}\n"
    assert equal(known(query, parts + whole), "A", "B") == Figure(0.09, "declared")


@pytest.mark.parametrize(
    ("condition", "value", "rule"),
    [
        ("A.a = 5", 1 / 20, "1/distinct"),
        ("A.b = 5", 0.1, "equality 0.1"),
        ("A.a <> 5", 19 / 20, "unequal, 1/distinct"),
        ("A.a IN (1, 2, 3)", 3 / 20, "3 × 1/distinct"),
        ("A.x > 5", 1 / 3, "range 1/3"),
        ("A.s LIKE 'a%'", 0.1, "pattern 0.1"),
        ("A.s IS NULL", 0.05, "null 0.05"),
        ("A.s IS NOT NULL", 0.95, "not null 0.95"),
        ("NOT A.x > 5", 2 / 3, "NOT of its part"),
        ("(A.x > 5 OR A.b = 1)", 1 - 2 / 3 * 0.9, "OR of its parts"),
        ("NOT (A.x > 5 AND A.b = 1)", 1 - 0.1 / 3, "NOT of its part"),
        ("A.f", 0.5, "condition 0.5"),
        ("A.x < B.x", 1 / 3, "range 1/3"),
    ],
)
def test_a_condition_is_guessed_by_its_form(condition: str, value: float, rule: str) -> None:
    query = ask(f"A.a = B.a AND {condition}", "A [NOW], B [NOW]")
    (figures,) = known(query, "[streams.A]\ndistinct = {a = 20}").conditions.values()
    assert figures.selectivity == guessed(value, rule)
    assert figures.cost.rule == "50 ns an operation"


def test_given_conditions_count() -> None:
    query = ask("A.a = B.a AND A.x > 5", "A [NOW], B [NOW]")
    figures = known(query, "[filters]\n'A.x > 5' = {selectivity = 0.2}").conditions["A.x > 5.0"]
    assert figures.selectivity == Figure(0.2, "declared")
    assert figures.cost == guessed(50e-9, "50 ns an operation")


def test_an_equality_beside_the_key_is_a_condition() -> None:
    query = ask("A.a = B.a AND A.b = B.a", "A [NOW], B [NOW]")
    assert list(complete(query).conditions) == ["A.b = B.a"]
    assert len(complete(query).groups) == 1


def test_a_function_brings_its_own_figures() -> None:
    @penstock.function(cost=0.002, selectivity=0.3)
    def odd(value: int) -> bool:
        return value % 2 == 1

    text = f"{STREAMS}SELECT * FROM A [NOW], B [NOW] WHERE A.a = B.a AND odd(A.a)"
    query = parse(text, functions=[odd])
    (figures,) = complete(query).conditions.values()
    assert figures.selectivity == Figure(0.3, "declared")
    assert figures.cost == Figure(0.002, "declared")
    given = loads("[filters]\n'ODD( a.A )' = {selectivity = 0.5}", query)
    assert complete(query, given).conditions["odd(A.a)"].selectivity == Figure(0.5, "declared")


def test_costs_are_given_calibrated_or_guessed() -> None:
    calibrated = Costs("measured", insert=1e-6)
    assert complete(one_class(), None, calibrated).costs == calibrated
    given = loads("[costs]\njoin = 0.1", one_class())
    assert complete(one_class(), given, calibrated).costs == Costs("declared", join=0.1)
