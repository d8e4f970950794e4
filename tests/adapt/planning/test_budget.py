"""The budget of planning: some weighings for nothing, the others for a part of the work."""

from __future__ import annotations

from dataclasses import replace

from penstock.adapt.planning.budget import Budget
from penstock.adapt.settings import Settings
from penstock.cql import parse
from penstock.engine.reports.parts import InputReport, OperatorReport
from penstock.engine.reports.report import Report

QUERY = parse("""
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x DOUBLE)
WITH (format = 'csv', path = 'a', timestamp = 'ts');
CREATE STREAM b (ts TIMESTAMP, k BIGINT) WITH (format = 'csv', path = 'b', timestamp = 'ts');
SELECT a.x FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k AND a.x > 1
""")
SETTINGS = Settings(
    free_weighings=2,
    planning_share=0.1,
    weighing_seconds=0.25,
    training_of_stream=1.0,
    training_payback=5.0,
)


def batch(rows: int) -> Report:
    """A batch that reads so many rows and takes them through a filter."""
    return Report(
        batch=0,
        seconds=0.0,
        read={},
        late={},
        malformed={},
        results=0,
        state_tuples=0,
        frontier=None,
        total_results=0,
        inputs={"a": InputReport(rows)},
        operators=(OperatorReport("a", 0, "a.x > 1", "filter", rows, rows),),
    )


def test_the_first_weighings_are_free() -> None:
    budget = Budget(QUERY, SETTINGS)
    for _ in range(2):
        assert budget.allows_weighing
        budget.weigh()
    assert not budget.allows_weighing
    budget.renew()
    assert budget.allows_weighing


def test_others_take_a_part_of_the_work() -> None:
    budget = Budget(QUERY, SETTINGS)
    budget.weigh()
    budget.weigh()
    # A weighing of two inputs takes a second: ten of work are needed, a microsecond a row.
    budget.take(batch(9_800_000))
    assert not budget.allows_weighing
    budget.take(batch(400_000))
    assert budget.allows_weighing
    budget.weigh()
    assert not budget.allows_weighing


def test_training_needs_work_each_time() -> None:
    budget = Budget(QUERY, SETTINGS)
    budget.take(batch(9_000_000))
    assert not budget.allows_training(0)
    budget.take(batch(2_000_000))
    assert budget.allows_training(0)
    assert not budget.allows_training(1)
    # Twice as much as before the first one.
    budget.take(batch(11_000_000))
    assert not budget.allows_training(1)
    budget.take(batch(11_000_000))
    assert budget.allows_training(1)


def test_combinations_that_are_only_looked_at_are_little_work() -> None:
    budget = Budget(QUERY, SETTINGS)
    budget.weigh()
    budget.weigh()
    probe = OperatorReport("a", 0, "b", "probe", 1_000, 100_000_000)
    budget.take(replace(batch(1_000), operators=(probe,)))
    # Two seconds of work, where one row after another would have taken a hundred.
    assert not budget.allows_weighing
