"""Unique keys: no plan expects more than one partner of a tuple in a window that has such a key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cql import parse
from penstock.figure import Figure
from penstock.optimize.model.distinct import distinct_values
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.statistics_used import statistics_used
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.explain import explain
from penstock.query import Column, Query
from penstock.query.types import DataType
from penstock.stats.files.load import loads
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import Group, Statistics

STREAMS = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, m BIGINT, x DOUBLE) "
    "WITH (format='csv', path='p', timestamp='ts');\n"
    for name in "ABCD"
)
HOUR = 3600.0


def asked(where: str = "A.k = B.k", windows: str = "A [UNBOUNDED], B [UNBOUNDED]") -> Query:
    return parse(f"{STREAMS}SELECT A.k FROM {windows} WHERE {where}")


def given(query: Query, pair: str, unique: str = '["k"]', more: str = "") -> Statistics:
    """Ten tuples of A a second and a hundred of the others, and what is said of a pair."""
    others = [alias for alias in query.aliases if alias != "A"]
    rates = "".join(f"[streams.{alias}]\nrate = 100\n" for alias in others)
    return loads(
        f"[streams.A]\nrate = 10\nunique = {unique}\n{rates}"
        f"[joins]\n'A.k = B.k' = {{selectivity = {pair}}}\n{more}",
        query,
    )


def sampled(value: float) -> str:
    return f"{{value = {value}, origin = 'sampled'}}"


def problem(query: Query, pair: str, unique: str = '["k"]', more: str = "") -> Problem:
    return Problem(query, complete(query, given(query, pair, unique, more)))


def equal(of: Problem, *aliases: str) -> float:
    return of.fraction(of.mask(aliases))


SAID = "[{value = 'k', origin = 'sampled'}]"


@pytest.mark.parametrize("unique", ['["k"]', SAID])
def test_a_tuple_has_one_partner_at_most_in_a_window_with_a_unique_key(unique: str) -> None:
    of = problem(asked(), sampled(0.01), unique)
    assert equal(of, "A", "B") == pytest.approx(1 / (10 * HOUR))
    assert of.alive[of.everything] == pytest.approx(100 * HOUR)


def test_a_window_of_fewer_tuples_than_keys_is_as_sampled() -> None:
    of = problem(asked(windows="A [RANGE 5 SECONDS], B [UNBOUNDED]"), sampled(0.01))
    assert equal(of, "A", "B") == 0.01


def test_without_a_unique_key_nothing_changes() -> None:
    assert equal(problem(asked(), sampled(0.01), "[]"), "A", "B") == 0.01


def test_a_key_of_more_columns_than_are_compared_is_not_unique() -> None:
    assert equal(problem(asked(), sampled(0.01), '[["k", "m"]]'), "A", "B") == 0.01
    both = asked("A.k = B.k AND A.m = B.m")
    known = complete(both, loads("[streams.A]\nrate = 10\nunique = ['m']", both))
    assert equal(Problem(both, known), "A", "B") == pytest.approx(1 / (10 * HOUR))


def test_a_filter_leaves_fewer_partners_than_one() -> None:
    query = asked("A.k = B.k AND A.x > 1")
    of = problem(query, sampled(0.01), more="[filters]\n'A.x > 1' = {selectivity = 0.1}\n")
    assert of.inputs[0].window * equal(of, "A", "B") == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("pair", "unique", "fraction"),
    [
        ("0.01", '["k"]', 1 / (10 * HOUR)),
        ("0.01", SAID, 0.01),
        ("{value = 0.01, origin = 'measured'}", '["k"]', 1 / (10 * HOUR)),
    ],
)
def test_what_is_declared_counts_more_than_what_a_sample_tells(
    pair: str, unique: str, fraction: float
) -> None:
    """And what was measured in a window that grows was of a smaller one."""
    assert equal(problem(asked(), pair, unique), "A", "B") == pytest.approx(fraction)


def test_what_was_measured_in_a_window_that_ends_stands() -> None:
    query = asked(windows="A [RANGE 1 HOUR], B [UNBOUNDED]")
    measured = "{value = 0.01, origin = 'measured'}"
    assert equal(problem(query, measured), "A", "B") == 0.01
    assert equal(problem(query, sampled(0.01)), "A", "B") == pytest.approx(1 / (10 * HOUR))


CHAIN = "A.k = B.k AND B.k = C.k AND C.k = D.k"
ALL = "A [UNBOUNDED], B [UNBOUNDED], C [RANGE 1 SECOND], D [RANGE 1 SECOND]"


def chain(keys: dict[str, str]) -> Problem:
    """Four inputs that share a key, of which pairs, threes and the whole were sampled."""
    query = asked(CHAIN, ALL)
    sizes = {2: 0.01, 3: 2e-4, 4: 5e-6}
    everyone = frozenset("ABCD")
    groups = {
        Group(0, (0,), streams): Figure(sizes[len(streams)], "sampled")
        for streams in _sets(everyone)
    }
    text = "".join(f"[streams.{alias}]\nrate = 10\n{keys.get(alias, '')}\n" for alias in "ABCD")
    return Problem(query, complete(query, replace(loads(text, query), groups=groups)))


def _sets(streams: frozenset[str]) -> list[frozenset[str]]:
    names = sorted(streams)
    masks = range(1 << len(names))
    found = [frozenset(n for i, n in enumerate(names) if mask >> i & 1) for mask in masks]
    return [each for each in found if len(each) > 1]


UNIQUE = "unique = ['k']"


def test_combinations_of_others_have_one_partner_at_most() -> None:
    of = chain({"A": UNIQUE})
    window = 10 * HOUR
    assert equal(of, "A", "B") == pytest.approx(1 / window)
    assert equal(of, "A", "B", "C") == pytest.approx(0.01 / window)
    assert equal(of, "A", "B", "C", "D") == pytest.approx(2e-4 / window)
    assert equal(of, "B", "C", "D") == 2e-4


def test_no_set_is_equal_more_often_than_a_part_of_it() -> None:
    for keys in ({"A": UNIQUE}, {"A": UNIQUE, "B": UNIQUE}, dict.fromkeys("ABCD", UNIQUE)):
        of = chain(keys)
        fractions = {streams: equal(of, *streams) for streams in _sets(frozenset("ABCD"))}
        for large, less in fractions.items():
            assert all(less <= more for small, more in fractions.items() if small < large)


def test_a_large_problem_has_the_same_figures() -> None:
    tabled = chain({"A": UNIQUE, "B": UNIQUE})
    large = replace(tabled)
    vars(large)["is_large"] = True
    for streams in _sets(frozenset("ABCD")):
        assert equal(large, *streams) == pytest.approx(equal(tabled, *streams))


def test_all_kinds_of_plans_expect_the_same_results() -> None:
    known = chain({"A": UNIQUE}).known
    decision = decide(known, PlanOptions(kinds=frozenset({"tree", "multiway"})))
    every = (decision.chosen, *decision.others)
    rates = {each.estimate.output_rate for each in every}
    assert {type(each.plan).__name__ for each in every} == {"MultiwayJoin", "TreeJoin"}
    assert max(rates) == pytest.approx(min(rates))


def test_a_table_of_upserts_has_a_row_for_each_key() -> None:
    query = parse(
        f"{STREAMS}CREATE TABLE U (ts TIMESTAMP, k BIGINT, x DOUBLE) WITH "
        "(format='csv', path='u', timestamp='ts', key='k');\n"
        "SELECT B.k FROM U, B [UNBOUNDED] WHERE U.k = B.k"
    )
    joined = f"[joins]\n'U.k = B.k' = {{selectivity = {sampled(0.05)}}}"
    counted = complete(query, loads(f"[streams.U]\ndistinct = {{k = 500}}\n{joined}", query))
    assert equal(Problem(query, counted), "U", "B") == pytest.approx(1 / 500)
    # Where nobody knows how many keys there are, the sample is all there is.
    assert equal(Problem(query, complete(query, loads(joined, query))), "U", "B") == 0.05


def test_a_unique_column_has_as_many_values_as_tuples() -> None:
    known = problem(asked(), sampled(0.01)).known
    column = Column("A", "k", DataType.BIGINT)
    assert distinct_values(known, column).value == float("inf")
    other = distinct_values(known, replace(column, stream="B"))
    assert other.value == pytest.approx(10 * HOUR)


def told(known: Known) -> dict[str, tuple[float, str, str]]:
    figures = {each.what: each.figure for each in statistics_used(known)}
    return {what: (f.value, f.origin, f.note) for what, f in figures.items()}


def test_explain_says_what_is_unique_and_what_follows() -> None:
    known = problem(asked(), sampled(0.01), SAID).known
    figures = told(known)
    assert figures["same A.k"] == (1.0, "sampled", "")
    note = "one partner at most, sampled 0.01"
    assert figures["A.k = B.k"] == (1 / (10 * HOUR), "derived", note)
    text = explain(decide(known))
    line = next(line for line in text.splitlines() if "same A.k" in line)
    assert " ".join(line.split()) == "same A.k 1 tuple at most sampled"
