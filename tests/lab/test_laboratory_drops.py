"""Drop boxes: the fractions they keep, and that a replay keeps the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from penstock.kernels.drop import keeps
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.plan.drops import DropBoxes
from penstock.query import RowsWindow
from support.lab.laboratory import HASH, NESTED, common_case, plan_of, rows_of, tables_of
from support.streams.cases import canonical

MANY = np.arange(200_000)


@pytest.mark.parametrize("fraction", [0.0001, 0.01, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("alias", ["A", "bids", "größe"])
def test_the_kept_fraction_is_within_four_standard_errors(alias: str, fraction: float) -> None:
    # Arrival numbers as they come: in a row, or a file's number above a row's.
    for arrivals in (MANY, (MANY % 400 << 36) | MANY // 400):
        kept = keeps(7, alias, arrivals, fraction).mean()
        assert abs(kept - fraction) < 4 * np.sqrt(fraction * (1 - fraction) / len(arrivals))


def test_all_or_nothing() -> None:
    for fraction in (1.0, 1.5):
        assert keeps(0, "A", MANY, fraction).all()
    assert not keeps(0, "A", MANY, 0.0).any()
    assert len(keeps(0, "A", MANY[:0], 0.5)) == 0


def test_streams_and_seeds_are_independent() -> None:
    kept = [
        keeps(seed, alias, MANY, 0.4).astype(float) for seed in (0, 1, 2) for alias in ("A", "B")
    ]
    kept += [np.roll(kept[0], 1)]
    correlations = np.corrcoef(kept) - np.eye(len(kept))
    assert np.abs(correlations).max() < 4.5 / np.sqrt(len(MANY))


def test_a_replay_keeps_the_same_whatever_the_batches_are() -> None:
    whole = keeps(3, "A", MANY, 0.3)
    parts = [keeps(3, "A", MANY[n : n + 999], 0.3) for n in range(0, len(MANY), 999)]
    assert (np.concatenate(parts) == whole).all()
    # Written down, so that a change of the hash is noticed: checkpoints outlive versions.
    assert np.flatnonzero(whole)[:8].tolist() == [14, 15, 16, 21, 29, 41, 44, 45]


def test_a_lower_fraction_keeps_a_part_of_a_higher_one() -> None:
    low, high = (keeps(3, "A", MANY, fraction) for fraction in (0.2, 0.6))
    assert (low <= high).all()


# ── in the laboratory ─────────────────────────────────────────────────────────────────────────────


def test_a_shed_tuple_is_no_work_and_counted() -> None:
    case = common_case(tuples=400)
    plan = replace(plan_of(case.query, HASH), drops=DropBoxes((("A", 0.5), ("C", 0.0))))
    outcome = run(plan, tables_of(case), Eager())
    assert outcome.shed["C"] == 100
    assert 30 < outcome.shed["A"] < 70
    assert (outcome.shed["B"], outcome.shed["D"]) == (0, 0)
    assert outcome.work.tuples == 400 - sum(outcome.shed.values())
    assert outcome.peaks["C"] == 0


def test_over_range_windows_what_is_left_is_a_part_of_the_exact_results() -> None:
    case = common_case(tuples=400)
    exact = plan_of(case.query, NESTED)
    shed = replace(exact, drops=DropBoxes((("A", 0.7), ("B", 0.7))))
    one, two = (canonical(rows_of(run(p, tables_of(case), Eager()))) for p in (exact, shed))
    assert 0 < sum(two.values()) < sum(one.values())
    assert two <= one


def test_a_rows_window_is_counted_after_its_drop_box() -> None:
    case = common_case(tuples=400)
    inputs = tuple(replace(item, window=RowsWindow(3)) for item in case.query.inputs)
    query = replace(case.query, inputs=inputs)
    plan = replace(plan_of(query, NESTED), drops=DropBoxes((("A", 0.5),)))
    outcome = run(plan, tables_of(replace(case, query=query)), Eager())
    assert outcome.peaks["A"] == 3
    assert outcome.work.expired == sum(100 - outcome.shed[a] - 3 for a in query.aliases)
