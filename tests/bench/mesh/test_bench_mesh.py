"""The mesh benchmark: predicates and their data, rivals' equality, figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from penstock.bench.mesh.checks import CHECKS, hide, tell
from penstock.bench.mesh.figures import BATCHED, EDDY, MESH, SINGLE, Half, MeshFigures, Runs
from penstock.bench.mesh.joins import Contest as JoinContest
from penstock.bench.mesh.joins import JoinFigures, JoinRun, JoinSize
from penstock.bench.mesh.predicates import (
    Contest,
    Finish,
    Size,
    contest_of,
    half_of,
    run_once,
    run_predicates,
)
from penstock.bench.mesh.predicates_data import (
    HOURS,
    KINDS,
    ONE_ATTRIBUTE,
    PASS,
    SKEWED,
    UNIFORM,
    Answer,
    Checked,
    Mixture,
    tuples_of,
)
from penstock.bench.mesh.run import QUICK, Sizes, joins_half
from penstock.bench.mesh.spark import take_turns
from penstock.bench.mesh.text import mesh_text
from penstock.cli.main import app
from penstock.errors import PenstockError
from penstock.plan.mesh import MeshJoin, attributes_of
from penstock.plan.multiway import MultiwayJoin

TINY = Size(rows=250, files=4, batch=2, repeat=1)
COSTS = np.array([check.seconds for check in CHECKS])
ORDERS = [list(order) for order in permutations(range(len(CHECKS)))]


def ignore(_: str) -> None:
    """Progress that nobody watches."""


# Predicates and data


def verdicts_of(numbers: pa.ChunkedArray) -> NDArray[np.bool_]:
    """What is hidden in numbers, a column for each check."""
    flat = numbers.combine_chunks()
    return np.column_stack([tell(check.place, 0, flat).to_numpy(False) for check in CHECKS])


def test_what_is_hidden_is_told_whatever_the_turns() -> None:
    hidden = np.array([*product((False, True), repeat=len(CHECKS))])
    noise = np.random.default_rng(1).integers(0, 1 << 64, len(hidden), np.uint64)
    numbers = pa.array(hide(hidden, noise))
    for turns, check in product((0, 1, 50), CHECKS):
        assert tell(check.place, turns, numbers).to_numpy(False).tolist() == [
            *hidden[:, check.place]
        ]


def test_predicates_are_declared_to_take_20_to_100_microseconds() -> None:
    assert len({check.turns for check in CHECKS}) == len(CHECKS) == 6
    for check in CHECKS:
        assert 20e-6 <= check.function.cost <= 100e-6
        assert check.function.cost == check.seconds


@pytest.mark.parametrize("mixture", [SKEWED, ONE_ATTRIBUTE, UNIFORM], ids=lambda m: m.name)
def test_tuples_pass_as_often_as_their_partition_says(mixture: Mixture) -> None:
    rows = tuples_of(Checked(mixture, 30_000, 1, 1), 0)
    passed = verdicts_of(rows["x"])
    kinds, hours = rows["kind"].to_numpy(), rows["hour"].to_numpy()
    for kind, hour in product(range(KINDS), range(HOURS)):
        mine = (kinds == kind) & (hours == hour)
        assert mine.mean() == pytest.approx(1 / (KINDS * HOURS), abs=0.02)
        wanted = PASS.mean(axis=0) if mixture.parts is None else PASS[mixture.parts[kind][hour]]
        assert passed[mine].mean(axis=0) == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("mixture", [SKEWED, ONE_ATTRIBUTE], ids=lambda m: m.name)
def test_each_partition_is_a_third(mixture: Mixture) -> None:
    assert mixture.parts is not None
    cells = [part for row in mixture.parts for part in row]
    assert [cells.count(part) for part in range(3)] == [2, 2, 2]


def test_other_columns_tell_nothing() -> None:
    rows = tuples_of(Checked(SKEWED, 30_000, 1, 1), 0)
    passed = verdicts_of(rows["x"])
    for name in ("id", "device", "size", "x"):
        found = np.corrcoef(rows[name].to_numpy(), passed, rowvar=False)[0, 1:]
        assert np.abs(found).max() < 0.03


def test_files_differ_and_are_the_same_again() -> None:
    checked = Checked(SKEWED, 50, 2, 1)
    assert tuples_of(checked, 1) == tuples_of(checked, 1)
    assert tuples_of(checked, 0)["x"] != tuples_of(checked, 1)["x"]


def expected_seconds(order: Sequence[int], rates: NDArray[np.float64]) -> float:
    """Of a tuple that takes the checks in this order."""
    reach = np.concatenate([[1.0], np.cumprod(rates[order])[:-1]])
    return float(reach @ COSTS[order])


def together(order: Sequence[int]) -> float:
    """Seconds of a tuple of any partition."""
    return float(np.mean([expected_seconds(order, rates) for rates in PASS]))


def test_partitions_have_opposite_best_orders() -> None:
    best = [min(ORDERS, key=lambda order: expected_seconds(order, rates)) for rates in PASS]
    assert len({order[0] for order in best}) == len(PASS)
    for own, rates in zip(best, PASS, strict=True):
        others = [expected_seconds(order, rates) for order in best if order != own]
        assert min(others) > 1.4 * expected_seconds(own, rates)
    routed = np.mean([expected_seconds(o, rates) for o, rates in zip(best, PASS, strict=True)])
    assert min(map(together, ORDERS)) > 1.7 * routed


# Plans and runs


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Half:
    return run_predicates(TINY, tmp_path_factory.mktemp("mesh"), ignore)


def test_all_rivals_run_on_all_data_and_their_answers_are_checked(half: Half) -> None:
    for runs in (half.skewed, half.uniform, half.others["one_attribute"]):
        assert runs.tuples == 1_000
        assert runs.results > 0
        assert list(runs.seconds) == [SINGLE, MESH, EDDY, BATCHED]
        assert all(len(each) == 1 for each in runs.seconds.values())
    assert half.skewed.classifying > 0.0


def test_the_mesh_routes_by_what_tells_partitions_apart(tmp_path: Path) -> None:
    contest = contest_of(TINY, SKEWED, tmp_path, "local", ignore)
    mesh, single = contest.plans[MESH], contest.plans[SINGLE]
    assert isinstance(mesh, MeshJoin)
    assert isinstance(single, MultiwayJoin)
    assert set(attributes_of(mesh.meshes[0])) == {"kind", "hour"}
    firsts = {str(route.stages[0][0]) for route in mesh.meshes[0].routes}
    assert len(firsts) == 3
    texts = [str(condition) for condition in single.query.filters]
    order = [next(c.place for c in CHECKS if text.startswith(c.name)) for text in texts]
    # Else the mesh would be compared with a worse rival than it has. What the checks cost is
    # measured, which on a busy machine is not exact.
    assert together(order) < 1.5 * min(map(together, ORDERS))
    assert run_once(mesh).answer == contest.answer


def test_uniform_data_have_one_route(tmp_path: Path) -> None:
    mesh = contest_of(TINY, UNIFORM, tmp_path, "local", ignore).plans[MESH]
    assert isinstance(mesh, MeshJoin)
    assert len(mesh.meshes[0].routes) == 1


def test_a_wrong_answer_is_refused(tmp_path: Path) -> None:
    contest = Contest("skewed", 10, tmp_path, {}, Answer(1, 2))
    finishes = {"skewed": {MESH: [Finish(1.0, Answer(1, 2))], EDDY: [Finish(1.0, Answer(1, 3))]}}
    with pytest.raises(PenstockError, match="eddy on skewed data gave a wrong answer: Answer"):
        half_of(TINY, [contest], finishes)


@pytest.mark.spark
def test_both_plans_give_the_same_on_spark(spark: Any, tmp_path: Path) -> None:
    contests = [contest_of(TINY, SKEWED, tmp_path, "spark", ignore)]
    finishes = take_turns(contests, 1, spark, str(tmp_path / "runs"))
    assert list(finishes["skewed"]) == [SINGLE, MESH]
    for (finish,) in finishes["skewed"].values():
        assert finish.answer == contests[0].answer


# Figures


def runs_of(
    single: float, mesh: float, eddy: float, batched: float, classifying: float = 0.0
) -> Runs:
    spent = {SINGLE: single, MESH: mesh, EDDY: eddy, BATCHED: batched}
    seconds = {rival: [each, 10 * each, each] for rival, each in spent.items()}
    return Runs(1_000, 60, seconds, classifying)


JOINS = Half(runs_of(6, 2, 5, 4, 0.02), runs_of(2, 2, 2.4, 2.2), {"repeat": 3})
PREDICATES = Half(
    runs_of(4, 2, 6, 4),
    runs_of(2, 2.5, 2, 2),
    {"repeat": 3},
    {"one_attribute": runs_of(4, 2, 2, 4)},
)


def test_figures_have_the_names_that_were_agreed_and_the_worse_of_both_halves() -> None:
    spark = Half(
        Runs(1_000, 60, {SINGLE: [3.0], MESH: [2.0]}),
        Runs(1_000, 60, {SINGLE: [2.0], MESH: [2.0]}),
        {"repeat": 1},
    )
    figures = MeshFigures(JOINS, PREDICATES, spark)
    made = json.loads(json.dumps(figures.document()))
    assert made["skewed"] == {
        "ratio_vs_single": 2.0,
        "ratio_vs_eddy": 2.5,
        "ratio_vs_eddy_batched": 2.0,
    }
    assert made["uniform"] == {
        "ratio_vs_single": 0.8,
        "ratio_vs_eddy": 0.8,
        "ratio_vs_eddy_batched": 0.8,
    }
    assert made["classification_share"] == 0.01
    assert made["comparison"] == "fair"
    assert made["joins"]["skewed"]["ratio_vs_single"] == 3.0
    assert made["joins"]["skewed"]["results_per_s"]["mesh"] == 30.0
    assert made["joins"]["uniform"]["overhead_vs_single"] == {"eddy": 0.2, "eddy_batched": 0.1}
    assert made["predicates"]["one_attribute"]["ratio_vs_eddy"] == 1.0
    assert made["spark"]["skewed"]["ratio_vs_single"] == 1.5
    text = mesh_text(figures)
    assert text.count("\n") > 20
    assert "six predicates, one attribute, eddy batched" in text
    assert "six predicates on Spark, skewed, single" in text
    assert "ten-way join: the classifier takes 1.00% of the time" in text


def test_an_eddy_that_loses_too_much_on_uniform_data_makes_the_comparison_void() -> None:
    slow = Half(runs_of(4, 2, 6, 4), runs_of(2, 2, 2.6, 2), {"repeat": 3})
    assert slow.is_void
    figures = MeshFigures(JOINS, slow, None)
    made: Any = figures.document()
    assert made["comparison"] == made["predicates"]["comparison"] == "void"
    assert made["joins"]["comparison"] == "fair"
    assert made["spark"] is None
    assert "over 25%: the comparison is void" in mesh_text(figures)


def test_the_joins_are_one_half() -> None:
    runs = {r: (JoinRun(4.0, 0.1, 9, 60, 7),) * 3 for r in (MESH, SINGLE, EDDY, BATCHED)}
    contest = JoinContest(500, runs, (3, 3))
    made = joins_half(JoinFigures(contest, contest), JoinSize(repeats=3))
    assert made.skewed.results == 60
    assert made.skewed.ratio(EDDY) == 1.0
    assert made.classification_share == pytest.approx(0.025)
    assert made.setting["repeat"] == 3


def test_a_number_of_rounds_is_for_all_parts() -> None:
    made = QUICK.repeated(2)
    assert (made.joins.repeats, made.predicates.repeat, made.spark.repeat) == (2, 2, 2)
    assert Sizes().predicates.repeat == Sizes().joins.repeats == Sizes().spark.repeat == 5


def test_the_command_knows_the_benchmark() -> None:
    assert "mesh         a ten-way join" in CliRunner().invoke(app, ["bench", "--help"]).stdout
    refused = CliRunner().invoke(app, ["bench", "mesh", "--seconds", "5"])
    assert refused.exit_code == 2
    assert "mesh has two sizes" in refused.output
