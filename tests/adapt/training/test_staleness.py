"""Meshes whose classes of tuples behave otherwise than they were trained for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.adapt.training.expectation import expected_yields
from penstock.adapt.training.reassess import reassessed
from penstock.adapt.training.reservoir import Reservoir
from penstock.adapt.training.trainer import MeshWatch, Trainer
from penstock.engine.reports.parts import OperatorReport
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.plan.default_plan import default_plan
from penstock.plan.mesh import MeshJoin
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training
from support.adapt.sectors import MESHES, drawn, flows, mesh_by, sector_query, tuples


def trained(shift: int = 0) -> dict[str, Training]:
    reservoir = Reservoir(sector_query())
    reservoir.take([drawn(tuples(1_000, 1, shift)), drawn(tuples(1_000, 2, shift), 1_000)])
    return dict(reservoir.training(Statistics(sector_query()))[0])


def known_by(training: dict[str, Training]) -> Known:
    return complete(sector_query(), Statistics(sector_query(), training=training))


@pytest.mark.parametrize("seed", range(20))
def test_chance_makes_no_mesh_stale(seed: int) -> None:
    training = trained()
    plan, watch = mesh_by(training), MeshWatch()
    for batch in range(10):
        told = tuple(flows(plan, tuples(300 + 50 * batch, 100 * seed + batch)))
        assert watch.hear(plan, training, told) is None


def test_what_is_expected_of_a_route_is_what_comes() -> None:
    training = trained()
    plan = mesh_by(training)
    expected = expected_yields(plan, plan.meshes[0], training["S"])
    for each in flows(plan, tuples(100_000, 5)):
        found = each.came_out / each.went_in
        assert found == pytest.approx(expected[each.route, each.operator].rows, abs=0.1)


def test_swapped_kinds_make_a_mesh_stale_once() -> None:
    training = trained()
    plan, watch = mesh_by(training), MeshWatch()
    assert watch.hear(plan, training, tuple(flows(plan, tuples(1_000, 7)))) is None
    reason = watch.hear(plan, training, tuple(flows(plan, tuples(1_000, 8, 1))))
    assert reason is not None
    assert "S: on route" in reason
    assert "times as" in reason
    for batch in range(5):
        told = tuple(flows(plan, tuples(1_000, 9 + batch, 1)))
        assert watch.hear(plan, training, told) is None
    # What was called stale is known less well than what was trained for.
    back = [watch.hear(plan, training, tuple(flows(plan, tuples(1_000, 20 + n)))) for n in range(2)]
    assert any(back)


def test_what_changes_on_all_routes_is_no_matter_of_the_mesh() -> None:
    training = trained()
    plan, watch = mesh_by(training), MeshWatch()
    told = [replace(each, came_out=each.came_out // 3) for each in flows(plan, tuples(5_000, 3))]
    assert watch.hear(plan, training, told) is None


def test_few_rows_and_other_plans_tell_nothing() -> None:
    training = trained()
    plan, watch = mesh_by(training), MeshWatch()
    assert watch.hear(plan, training, tuple(flows(plan, tuples(30, 3, 1)))) is None
    told = (OperatorReport("S", 0, "x", "filter", 1_000, 1),)
    assert watch.hear(default_plan(sector_query()), training, told) is None
    assert watch.hear(plan, {}, tuple(flows(plan, tuples(1_000, 3, 1)))) is None


def test_a_stale_mesh_costs_more_than_a_single_route() -> None:
    old, new = trained(), trained(1)
    plan, fresh = mesh_by(old), mesh_by(new)
    problem = Problem(sector_query(), known_by(new))
    stale = reassessed(plan, known_by(new), MESHES)
    assert isinstance(stale, MeshJoin)
    assert stale == plan
    prospect = stale.meshes[0].prospect
    assert prospect is not None
    assert prospect.gain < -0.1
    assert needed_by(problem, stale) > 1.5 * needed_by(problem, fresh)
    assert needed_by(problem, plan) == pytest.approx(needed_by(problem, fresh), rel=0.1)


def test_a_mesh_reckoned_anew_by_its_own_training_is_the_same() -> None:
    training = trained()
    plan = mesh_by(training)
    again = reassessed(plan, known_by(training), MESHES)
    assert isinstance(again, MeshJoin)
    one, other = plan.meshes[0].prospect, again.meshes[0].prospect
    assert one is not None
    assert other is not None
    assert other.mesh == pytest.approx(one.mesh)
    assert other.single == pytest.approx(one.single)
    assert other.routes == pytest.approx(one.routes)
    single = default_plan(sector_query())
    assert reassessed(single, known_by(training)) is single


def test_a_trainer_trains_when_it_can_and_again_when_the_mesh_is_stale() -> None:
    query = sector_query()
    given = Statistics(query, untrained={"S": "the sample is empty"})
    trainer, single = Trainer(query), default_plan(query)
    assert not trainer.wants_plan
    assert trainer.training(given) == ({}, {"S": "the sample is empty"})
    for batch in range(2):
        assert "S" in trainer.samples()
        assert trainer.observe((), [drawn(tuples(1_000, batch), 1_000 * batch)], single, {}) is None
    assert trainer.wants_plan
    training = dict(trainer.training(given)[0])
    assert not trainer.wants_plan
    assert trainer.training(given)[0] == training
    plan = mesh_by(training)
    assert trainer.observe(tuple(flows(plan, tuples(1_000, 5))), (), plan, training) is None
    change = trainer.observe(tuple(flows(plan, tuples(1_000, 6, 1))), (), plan, training)
    assert change is not None
    assert change.kind == "drift"
    assert not trainer.wants_plan
    for batch in range(2):
        told = tuple(flows(plan, tuples(1_000, 10 + batch, 1)))
        fact = drawn(tuples(1_000, 10 + batch, 1), 10_000 + 1_000 * batch)
        assert trainer.observe(told, [fact], plan, training) is None
    assert trainer.wants_plan
    fresh = mesh_by(dict(trainer.training(given)[0]))
    assert fresh != plan
    assert not trainer.wants_plan


def drawn_twice(trainer: Trainer, *, is_affordable: bool = True) -> None:
    """Two batches of a plan that is no mesh, as many as training needs."""
    plan = default_plan(sector_query())
    for batch in range(2):
        facts = [drawn(tuples(1_000, batch), 1_000 * batch)]
        assert trainer.observe((), facts, plan, {}, is_affordable) is None


def test_nothing_is_trained_before_there_was_work_enough() -> None:
    query = sector_query()
    trainer = Trainer(query)
    drawn_twice(trainer, is_affordable=False)
    assert not trainer.wants_plan
    assert trainer.training(Statistics(query)) == ({}, {})
    assert trainer.trainings == 0
    drawn_twice(trainer)
    assert trainer.wants_plan
    assert set(trainer.training(Statistics(query))[0]) == {"S"}
    assert trainer.trainings == 1


def test_training_from_before_a_drift_is_forgotten() -> None:
    query = sector_query()
    trainer, plan = Trainer(query), default_plan(query)
    drawn_twice(trainer)
    given = replace(Statistics(query), training=trainer.training(Statistics(query))[0])
    assert given.training
    trainer.drift(mesh_by(dict(given.training)))
    assert trainer.training(given)[0] is given.training
    trainer.drift(plan)
    assert trainer.training(given) == ({}, {})
    drawn_twice(trainer)
    assert trainer.training(given)[0]
