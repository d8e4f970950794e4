"""Judging decisions: the queries, the plans that are run, the arithmetic and the figures' shape."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.bench.decisions.case import Case, prepare
from penstock.bench.decisions.contenders import contenders
from penstock.bench.decisions.drawn import RATES, WINDOW, draw
from penstock.bench.decisions.run import Outcome, Size, document, judge
from penstock.bench.decisions.spark import (
    TUPLES,
    Comparison,
    compared,
    contest_of,
    figures,
    larger,
)
from penstock.bench.decisions.text import decisions_text
from penstock.bench.decisions.trial import Shedding, Trial, shed, weigh
from penstock.calibration.batch_runs import run_in_process
from penstock.calibration.timing import timed
from penstock.cli.main import app
from penstock.optimize.joins.enumerate import left_deep_trees
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.tree import TreeJoin, is_left_deep
from penstock.query.keys import key_classes
from penstock.stats.calibration import keep
from penstock.stats.costs import Costs

COSTS = Costs(
    "measured", insert=6e-9, expire=3e-9, hash=2e-9, probe=20e-9, compare=5e-9, arrive=15e-9,
    result=18e-9, keep=13e-9, search=10e-9,
)  # fmt: skip


@pytest.fixture(scope="module")
def case() -> Case:
    """A query of three streams with many results."""
    return prepare(Random(5), 3, COSTS, results=20_000)


def test_the_same_seed_draws_the_same_query() -> None:
    scripts = [draw(Random(7), 4).script() for _ in range(2)]
    assert scripts[0] == scripts[1] != draw(Random(8), 4).script()


@pytest.mark.parametrize("seed", range(30))
def test_queries_are_connected_and_within_their_ranges(seed: int) -> None:
    workload = draw(Random(seed), 3 + seed % 3)
    assert len(workload.streams) == 3 + seed % 3
    for stream in workload.streams:
        assert RATES[0] * 0.99 <= stream.rate <= RATES[1] * 1.01
        assert WINDOW[0] * 0.9 <= stream.rate * stream.filling <= WINDOW[1] * 1.1
    query = workload.query()
    reached = {"A"}
    for _ in query.aliases:
        for key in key_classes(query):
            reached |= set(key.streams) if reached & set(key.streams) else set()
    assert reached == set(query.aliases)


def test_every_left_deep_tree_is_run_and_several_others(case: Case) -> None:
    problem = case.problem
    plans = contenders(problem, Random(0)).values()
    trees = [plan for plan in plans if isinstance(plan, TreeJoin)]
    straight = [plan for plan in trees if is_left_deep(plan.root)]
    assert len(straight) == len(list(left_deep_trees(problem)))
    assert sum(isinstance(plan, MultiwayJoin) for plan in plans) >= 3


def test_all_plans_give_the_same_results(case: Case) -> None:
    assert len({timed(plan, case.tuples).results for plan in case.plans.values()}) == 1


def test_regret_and_correlation(case: Case) -> None:
    predicted = {"a": 1.0, "b": 2.0, "c": 3.0}
    trial = Trial(case, "b", predicted, {"a": 2.0, "b": 3.0, "c": 9.0})
    assert trial.regret == 1.5
    assert trial.correlation == pytest.approx(1.0)
    upside_down = Trial(case, "a", predicted, {"a": 9.0, "b": 3.0, "c": 2.0})
    assert upside_down.regret == 4.5
    assert upside_down.correlation == pytest.approx(-1.0)


def test_a_trial_has_all_plans_and_the_chosen_one(case: Case) -> None:
    trial = weigh(case, 1)
    assert set(case.plans) <= set(trial.measured) == set(trial.predicted)
    assert trial.chosen in trial.measured
    assert trial.regret >= 1.0


def test_shedding_keeps_some_results(case: Case) -> None:
    found = shed(case, 0.5, 1)
    assert 0 < found.kept_vs_best <= 1.0
    assert found.used > 0


def test_spark_gets_more_of_the_same(case: Case) -> None:
    workload = larger(case)
    assert workload.tuples <= TUPLES * 1.01
    assert workload.tuples > case.workload.tuples
    assert workload.batches == 4


def test_the_chosen_plan_beside_the_order_of_from(case: Case) -> None:
    workload = replace(case.workload, batches=2)
    costs = replace(COSTS, move=90e-9, batch=0.002, round=0.004)
    found = compared(contest_of(workload, costs), run_in_process)
    assert found.predicted >= 0.999
    assert found.measured > 0


def test_speed_ups_are_summed_up() -> None:
    found = [Comparison("a", 3.0, 2.0), Comparison("b", 1.0, 0.9), Comparison("c", 2.0, 1.0)]
    made = figures(found)
    assert (made["least_speedup"], made["median_speedup"]) == (0.9, 1.0)
    assert (made["predicted_2x"], made["median_speedup_where_2x"]) == (2, 1.5)


def test_the_figures_of_few_queries() -> None:
    size = Size(queries=2, repeats=1)
    steps = []
    outcome = judge(size, 3, COSTS, lambda done, total: steps.append((done, total)))
    assert steps == [(0, 2), (1, 2), (2, 2)]
    made: Any = document(outcome, 3)
    assert made["queries"] == 2
    assert made["median_regret"] >= 1.0
    assert -1.0 <= made["mean_rank_correlation"] <= 1.0
    assert made["infeasible"]["queries"] == 0
    assert made["infeasible"]["median_kept_vs_best"] is None
    assert made["spark"] is None


def test_text_says_what_it_comes_to(case: Case) -> None:
    trial = Trial(case, "(A B)", {"(A B)": 1.0, "x": 2.0}, {"(A B)": 1.0, "x": 2.0})
    spark: Any = {
        "queries": 10, "least_speedup": 0.98, "median_speedup": 1.3, "predicted_2x": 0,
        "median_speedup_where_2x": None, "comparisons": [],
    }  # fmt: skip
    text = decisions_text(document(Outcome((trial,), (Shedding(0.9, 1.01),)), 4, spark))
    assert text.startswith("2 random queries, seed 4\n")
    assert "regret: median 1.000, 90th percentile 1.000; mean rank correlation 1.000" in text
    assert "1 infeasible queries: results kept against the best plan's, median 0.900" in text
    assert "least 0.980, median 1.300; where ≥ 2× is predicted (0 queries), median –" in text


@pytest.mark.parametrize("wrong", [("decisions", "--seconds", "9"), ("kernel", "--queries", "9")])
def test_options_that_do_not_go_together(wrong: tuple[str, ...]) -> None:
    assert CliRunner().invoke(app, ["bench", *wrong]).exit_code == 2


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CALIBRATION", str(tmp_path / "costs.toml"))
    keep({"laboratory": COSTS})
    command = ["bench", "decisions", "--queries", "1", "--repeat", "1", "--format", "json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["queries"] == 1
    assert "queries: 1 of 1" in done.stderr
