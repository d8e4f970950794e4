"""The pace of arrivals, and the limits of batches by which it is told."""

from __future__ import annotations

import pytest

from penstock.adapt.shedding.arrival_pace import Arrived, arrival_pace
from penstock.adapt.shedding.queue import limits_of
from penstock.cql import parse


@pytest.mark.parametrize("pace", [0.1, 1.0, 5.0])
def test_the_pace_is_the_clock_over_event_time(pace: float) -> None:
    found = [Arrived(pace * event, event) for event in (1.0, 2.0, 3.0, 0.5, 7.0)]
    assert arrival_pace(found) == pytest.approx(pace)


def test_few_arrivals_tell_nothing() -> None:
    assert arrival_pace([Arrived(1.0, 50.0)] * 3) == 1.0


def test_what_is_moved_in_at_once_does_not_count() -> None:
    found = [*[Arrived(1.0, 1.0)] * 9, Arrived(1.0, 3_600.0)]
    assert arrival_pace(found) == pytest.approx(1.0)


def test_where_nothing_comes_a_second_takes_long() -> None:
    assert arrival_pace([Arrived(1.0, 0.0)] * 5) == 100.0
    assert arrival_pace([Arrived(1.0, -1.0), *[Arrived(1.0, 0.0)] * 5]) == 100.0


def test_limits_are_counted_in_pieces() -> None:
    query = parse("""
        CREATE STREAM a (ts TIMESTAMP, k INT)
          WITH (format='parquet', path='a', timestamp='ts', max_files=3);
        CREATE STREAM b (ts TIMESTAMP, k INT)
          WITH (format='synthetic', timestamp='ts', rate=10, max_time='60 seconds');
        CREATE STREAM c (ts TIMESTAMP, k INT) WITH (format='parquet', path='c', timestamp='ts');
        SELECT a.k AS k FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND], c [RANGE 1 SECOND]
        WHERE a.k = b.k AND b.k = c.k
    """)
    limits = limits_of(query)
    assert set(limits) == {"a", "b"}
    assert limits["a"] == 3
    assert limits["b"] >= 1
