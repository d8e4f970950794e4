"""What the keys of equalities take: timed where they are more than numbers."""

from __future__ import annotations

import time

import pytest

import penstock
from penstock.cql import parse
from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.sampling.analyze import analyze
from penstock.stats.files.dump import dump
from penstock.stats.files.load import loads
from penstock.stats.statistics import Statistics, group_text

SLEEP = 1e-4

STREAM = (
    "CREATE STREAM {name} (ts TIMESTAMP, k BIGINT) WITH (format = 'synthetic', "
    "timestamp = 'ts', rate = 1000, seed = {seed}, rows = {rows}, "
    "values = 'k: uniform(0, 50)');\n"
)


@penstock.function(cost="0.1 ms")
def slow(value: int) -> int:
    """A key that takes a tenth of a millisecond."""
    time.sleep(SLEEP)  # the cost that is to be measured
    return value


def joined(where: str, rows: int = 1_200) -> Query:
    """A query over two streams."""
    streams = "".join(STREAM.format(name=n, seed=s, rows=rows) for s, n in enumerate("AB"))
    select = f"SELECT A.k FROM A [RANGE 1 SECOND], B [RANGE 1 SECOND] WHERE {where}"
    return parse(streams + select, functions=[slow])


def costs(known: Statistics) -> dict[str, float]:
    """The handling costs by their equality."""
    classes = key_classes(known.query)
    return {group_text(classes, group): f.value for group, f in known.handling.items()}


def test_a_key_that_is_computed_has_a_cost() -> None:
    known = analyze(joined("slow(A.k) = B.k"))
    # Half of the arrivals are of the side that sleeps.
    assert costs(known)["slow(A.k) = B.k"] >= 0.5 * SLEEP
    assert {f.origin for f in known.handling.values()} == {"measured"}


@pytest.mark.parametrize("where", ["A.k = B.k", "A.k = B.k AND A.k < B.k + 1"])
def test_numbers_have_none_of_their_own(where: str) -> None:
    assert analyze(joined(where)).handling == {}


def test_of_few_rows_nothing_is_told() -> None:
    assert analyze(joined("slow(A.k) = B.k", rows=900)).handling == {}


def test_only_the_part_of_a_key_that_is_computed_is_timed() -> None:
    known = analyze(joined("A.k = B.k AND slow(A.k) = slow(B.k)"))
    assert list(costs(known)) == ["slow(A.k) = slow(B.k)"]


def test_a_stats_file_keeps_it() -> None:
    query = joined("slow(A.k) = B.k")
    known = analyze(query)
    assert loads(dump(known), query).handling.keys() == known.handling.keys()
    assert costs(loads(dump(known), query)) == costs(known)
