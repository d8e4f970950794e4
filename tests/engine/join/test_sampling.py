"""Samples of new tuples: which are drawn, what of them, and that nobody draws unasked."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.adapt.training.reservoir import Reservoir
from penstock.engine.join.sampling import MOST_DRAWN, Draw, sample_of
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.engine.sources.read_slice import Arrivals
from penstock.engine.wire.facts import InputSample
from penstock.engine.wire.packets import from_streams
from penstock.kernels.drop import keeps
from penstock.optimize.options import PlanOptions
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from reference import answer
from support.adapt.sampled import Sampling, run_sampling
from support.engines.runs import Place, planned, random_plan
from support.plans.meshes import random_mesh, timed
from support.streams.cases import canonical, random_case, write_case

SEEDS = range(30)


def block(rows: int, first: int = 0) -> Arrivals:
    numbers = np.arange(first, first + rows)
    columns = {"x": pa.array(numbers % 7), "y": pa.array(numbers / 2)}
    return Arrivals(pa.RecordBatch.from_pydict(columns), numbers * 10, numbers)


def numbers_in(sample: InputSample | None) -> list[int]:
    assert sample is not None
    rows = from_streams([sample.tuples])
    assert rows is not None
    return list(rows.column(ARRIVAL).to_pylist())


def test_a_sample_has_the_wanted_columns_times_and_numbers() -> None:
    sample = sample_of("A", Draw(("y", "z"), 0.01), block(10_000, 5_000))
    assert sample is not None
    assert (sample.alias, sample.rows) == ("A", 10_000)
    rows = from_streams([sample.tuples])
    assert rows is not None
    assert rows.schema.names == ["y", TS, ARRIVAL]
    assert rows.column(TS).to_pylist() == [10 * n for n in numbers_in(sample)]
    assert rows.column("y").to_pylist() == [n / 2 for n in numbers_in(sample)]
    assert 60 < len(rows) < 140


def test_whoever_reads_a_tuple_draws_the_same() -> None:
    draw = Draw(("x",), 0.05)
    whole = numbers_in(sample_of("A", draw, block(4_000)))
    parts = [sample_of("A", draw, block(1_000, first)) for first in range(0, 4_000, 1_000)]
    assert [n for part in parts for n in numbers_in(part)] == whole
    assert set(whole) != set(numbers_in(sample_of("B", draw, block(4_000))))


def test_a_sample_is_bounded() -> None:
    drawn = numbers_in(sample_of("A", Draw(("x",)), block(50_000)))
    assert len(drawn) == MOST_DRAWN
    # They are those with the least lots, so that a smaller part is among them.
    assert set(numbers_in(sample_of("A", Draw(("x",), 0.01), block(50_000)))) <= set(drawn)
    assert sample_of("A", Draw(("x",), 1e-12), block(100)) is None


def test_drop_boxes_and_samples_are_independent() -> None:
    numbers = np.array(numbers_in(sample_of("A", Draw(("x",), 0.02), block(50_000))))
    for seed in range(5):
        assert keeps(seed, "A", numbers, 0.5).mean() == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("seed", SEEDS)
def test_switches_between_meshes_are_exact_while_samples_are_drawn(
    seed: int, tmp_path: Path
) -> None:
    rng = Random(f"sampled {seed}")
    case = timed(random_case(seed), rng)
    query = write_case(case, tmp_path / "in")

    def choose(running: Plan, number: int) -> Plan | None:
        if rng.random() < 0.3:
            return planned(query, random_plan(query, rng))
        return random_mesh(query, rng) if rng.random() < 0.8 else None

    reservoir = Reservoir(query)
    supervisor = Sampling(reservoir, choose)
    place = Place(tmp_path)
    run_sampling(random_mesh(query, rng), place, supervisor, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches, True))
    asked = set(Reservoir(query).wanted())
    seen = {each.alias for batch in supervisor.drawn for each in batch}
    assert seen <= asked


def test_the_runs_draw_samples() -> None:
    """Of three in four of these queries a mesh could be made."""
    queries = [timed(random_case(s), Random(f"sampled {s}")).query for s in SEEDS]
    assert sum(bool(Reservoir(query).wanted()) for query in queries) > 20


def test_nothing_is_drawn_unasked(tmp_path: Path) -> None:
    query = write_case(timed(random_case(3), Random(3)), tmp_path / "in")
    supervisor = Sampling(Reservoir(query, PlanOptions(off=frozenset({"mesh"}))))
    run_sampling(default_plan(query), Place(tmp_path), supervisor)
    assert [fact for batch in supervisor.drawn for fact in batch] == []
