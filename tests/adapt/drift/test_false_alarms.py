"""False alarms: streams that stay as they are, of which few tuples decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from penstock.adapt.drift.watch import Watch
from penstock.adapt.figures.readings import Probed, Reader, conditions_read
from penstock.adapt.figures.sizes import Sizes
from penstock.adapt.figures.sketch import Sketch, overlaps
from penstock.adapt.figures.steps import Step
from penstock.adapt.figures.subject import Equal, Passing, Subject
from penstock.adapt.figures.track import Reading
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.cql import parse
from penstock.engine.reports.parts import InputReport, ModuleReport, OperatorReport
from penstock.engine.reports.report import Report
from penstock.plan.default_plan import default_plan
from penstock.stats.statistics import Group

QUERY = parse("""
CREATE STREAM a (ts TIMESTAMP, k BIGINT, u BIGINT)
WITH (format = 'csv', path = 'a', timestamp = 'ts');
CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT)
WITH (format = 'csv', path = 'b', timestamp = 'ts');
SELECT a.u FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k AND b.v < a.u
""")
READER = Reader(default_plan(QUERY))
BATCHES = 400
NEW = 5_000
"""Tuples of the fast stream in a batch; the slow one's vary."""
EMPTY = Report(
    batch=0,
    seconds=0.0,
    read={},
    late={},
    malformed={},
    results=0,
    state_tuples=0,
    frontier=None,
    total_results=0,
)

Readings = dict[Subject, Reading]


def alarms(reading: Callable[[int], Readings]) -> int:
    """How often a figure is taken for drifted, of all batches."""
    watch = Watch(DEFAULT_SETTINGS)
    count = 0
    for batch in range(BATCHES):
        for subject in watch.see(reading(batch)):
            count += 1
            watch.begin(subject)
    return count


def looked_at(new: int, rows: int, pairs: int, passed: int) -> Report:
    """A batch in which tuples of a met `rows` of b, and some of the pairs passed."""
    return replace(
        EMPTY,
        inputs={"a": InputReport(NEW), "b": InputReport(new)},
        modules={"a@0": ModuleReport(NEW, 0), "b@0": ModuleReport(rows, 0)},
        operators=(OperatorReport("a", 0, "b.v < a.u", "filter", pairs, passed),),
    )


@pytest.mark.parametrize("window", [1, 50])
@pytest.mark.parametrize("seed", range(3))
def test_a_rare_predicate_on_few_tuples_raises_none(seed: int, window: int) -> None:
    rng = np.random.default_rng(seed)
    # One of a hundred tuples of b lets the tuples of a that it meets pass: a batch has two such.
    new = 200
    rare = rng.binomial(new, 0.01, BATCHES + window)

    def reading(batch: int) -> Readings:
        rows, each = new * window, 25
        passed = int(rare[batch : batch + window].sum()) * each
        report = looked_at(new, rows, rows * each, passed)
        return dict(conditions_read(report, READER, Sizes.of(report, QUERY)))

    assert Passing("b.v < a.u") in reading(0)
    assert alarms(reading) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_a_key_that_few_tuples_share_raises_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # One tuple in a hundred has one of four keys that both streams have, the others have their own.
    group = Group(0, (0,), frozenset("ab"))
    step = Step(frozenset("a"), frozenset("b"))

    def reading(batch: int) -> Readings:
        counts = [rng.multinomial(rng.binomial(NEW, 0.01), [0.25] * 4) for _ in "ab"]
        hashes = np.array([1, 2, 3, 4], np.uint64) << np.uint64(60)
        sketches = {
            alias: Sketch(
                float(NEW), float(NEW), 1.0, hashes[mine > 0], mine[mine > 0].astype(float)
            )
            for alias, mine in zip("ab", counts, strict=True)
        }
        matching = overlaps(sketches)[frozenset("ab")].matching
        found = float(counts[0] @ counts[1])
        probed = Probed(step, found, float(NEW) * NEW, float(NEW), 1.0)
        return {Equal(group, "probe"): probed.reading(matching, known=1.0)}

    assert reading(0)[Equal(group, "probe")].hits < NEW / 20
    assert alarms(reading) <= 1


def test_another_plan_shows_conditions_other_rows() -> None:
    watch = Watch(DEFAULT_SETTINGS)
    subject = Passing("b.v < a.u")
    for _ in range(10):
        assert not watch.see({subject: Reading(500.0, 1_000.0, 500.0)})
    watch.begin_conditions()
    for _ in range(10):
        assert not watch.see({subject: Reading(50.0, 1_000.0, 50.0)})
