"""Keys that were taken to be unique, and came twice while a query ran."""

from __future__ import annotations

import numpy as np

from penstock.adapt.figures.overlay import given_of, without_repeated
from penstock.adapt.figures.tables import tables_of
from penstock.adapt.knowledge import Knowledge
from penstock.adapt.resume import over
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.cql import parse
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import KeySketch
from penstock.plan.default_plan import default_plan
from penstock.query import Query
from penstock.stats.files.load import from_data, loads
from penstock.stats.guess import complete
from penstock.stats.statistics import Statistics

STREAMS = "".join(
    f"CREATE STREAM {name} (ts BIGINT, k BIGINT, m BIGINT) "
    "WITH (format='csv', path='p', timestamp='ts', unit='s');\n"
    for name in "AB"
)
KEYS = """
[streams.A]
unique = ["m", {value = "k", origin = "sampled"}, ["k", "m"]]
"""


def query_of(select: str) -> Query:
    return parse(f"{STREAMS}{select}")


def joined() -> Query:
    return query_of("SELECT A.k FROM A [UNBOUNDED], B [UNBOUNDED] WHERE A.k = B.k")


def test_a_key_that_came_twice_is_unique_no_more() -> None:
    given = loads(KEYS, joined())
    found = without_repeated(given, [("A", 0), ("B", 0)])
    assert set(found.stream("A").unique) == {("m",), ("k", "m")}


def test_nor_is_it_in_other_inputs_of_its_stream() -> None:
    query = query_of("SELECT X.k FROM A AS X [NOW], A AS Y [NOW] WHERE X.k = Y.k")
    given = loads("[streams.A]\nunique = ['k']", query)
    assert given.stream("Y").unique
    found = without_repeated(given, [("X", 0)])
    assert not complete(query, found).unique


def test_of_a_key_of_two_columns_no_part_is_unique_either() -> None:
    query = query_of("SELECT A.k FROM A [NOW], B [NOW] WHERE A.k = B.k AND A.m = B.m")
    assert without_repeated(loads(KEYS, query), [("A", 0)]).stream("A").unique == {}


def report_of(batch: int) -> Report:
    return Report(batch, 1.0, {}, {}, {}, 0, 0, None, 0)


def sketch(*keys: int) -> KeySketch:
    hashes, counts = np.array(sorted(keys), np.uint64), np.ones(len(keys), np.int64)
    return KeySketch("A", 0, len(keys), len(keys), 1.0, hashes.tobytes(), counts.tobytes())


def test_a_run_sees_that_a_key_comes_again() -> None:
    query = joined()
    knowledge = Knowledge(complete(query, loads(KEYS, query)), DEFAULT_SETTINGS)
    plan = default_plan(query)
    for batch, keys in enumerate(((1, 2), (3, 4))):
        knowledge.take(report_of(batch), [sketch(*keys)], plan)
    assert ("k",) in knowledge.known().unique["A"]
    knowledge.take(report_of(2), [sketch(2)], plan)
    assert ("k",) not in knowledge.known().unique["A"]


def test_unique_keys_outlive_a_run() -> None:
    query = joined()
    given = loads(KEYS, query)
    assert given_of(complete(query, given)).stream("A").unique == given.stream("A").unique
    tables = tables_of(given, str)
    assert from_data(tables, query).streams == given.streams
    assert over(given, Statistics(query)).streams == given.streams
