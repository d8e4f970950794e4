"""Settings in which each plan of an aggregation join wins: by the model, and with equal answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from penstock.bench.early.run import (
    Finding,
    Size,
    answer_of,
    check_equal,
    document,
    find_winners,
    predicted,
    winner,
)
from penstock.bench.early.settings import SETTINGS, Setting, plans_of
from penstock.bench.early.text import early_text
from penstock.cli.main import app
from penstock.errors import PenstockError
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

PLANS = ["LAP", "EAP10", "EAP01", "EAP11"]
# As calibrated on a machine of 2026.
COSTS = Costs(
    "measured", probe=80e-9, compare=10e-9, arrive=190e-9, keep=200e-9, fold=110e-9, tally=50e-9,
    round=3e-3,
)  # fmt: skip


def problem_of(setting: Setting) -> Problem:
    query = setting.workload.query()
    return Problem(query, complete(query, setting.workload.statistics(), COSTS))


def tiny(setting: Setting) -> Setting:
    """A hundredth of the tuples, with windows and keys that let some of them match."""
    made = setting.workload
    assert made.every is not None
    streams = tuple(
        replace(
            stream,
            rate=max(20.0, stream.rate / 100),
            extent=max(stream.extent, 0.1),
            keys={key: min(count, 1_000) for key, count in stream.keys.items()},
        )
        for stream in made.streams
    )
    small = replace(made, streams=streams, every=max(made.every, 0.05), seconds=2.0, batches=2)
    return replace(setting, workload=small)


def test_every_plan_wins_once_for_each_join() -> None:
    for join in ("hash", "nested"):
        assert [s.winner for s in SETTINGS if s.join == join] == PLANS


def test_plans_have_the_names_of_the_paper() -> None:
    plans = plans_of(SETTINGS[0].workload.query())
    assert {name: plan.early for name, plan in plans.items()} == {
        "LAP": (), "EAP10": ("A",), "EAP01": ("B",), "EAP11": ("A", "B"),
    }  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: f"{s.join} {s.winner}")
def test_the_model_finds_the_winner(setting: Setting) -> None:
    problem = problem_of(setting)
    assert bool(problem.query.equalities) == (setting.join == "hash")
    assert winner(predicted(setting, problem)) == setting.winner
    chosen = decide(problem.known, PlanOptions(engine="local")).plan
    assert chosen.early == plans_of(problem.query)[setting.winner].early


def test_a_part_of_the_time_has_fewer_batches() -> None:
    short = SETTINGS[0].shorter(0.5).workload
    assert (short.seconds, short.batches) == (3.0, 3)
    assert short.streams == SETTINGS[0].workload.streams


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: f"{s.join} {s.winner}")
def test_all_plans_give_the_same_answer(setting: Setting) -> None:
    plans = plans_of(tiny(setting).workload.query())
    answers = {name: answer_of(plan) for name, plan in plans.items()}
    check_equal(answers)
    assert len(answers["LAP"]) > 0


def test_different_answers_are_refused() -> None:
    answers = {"LAP": pa.table({"n": [1]}), "EAP11": pa.table({"n": [2]})}
    with pytest.raises(PenstockError, match="EAP11 and LAP gave different answers"):
        check_equal(answers)


def finding(setting: Setting, seconds: Mapping[str, float]) -> Finding:
    return Finding(setting, seconds, {**seconds, "LAP": 0.5})


def test_figures_and_text_have_both_winners() -> None:
    seconds = {"LAP": 3.0, "EAP01": 2.0, "EAP10": 1.0, "EAP11": 4.0}
    made = document([finding(setting, seconds) for setting in SETTINGS], Size())
    assert list(made) == ["hash", "nested", "setting"]
    assert list(made["nested"]) == PLANS
    found = made["hash"]["EAP10"]
    assert (found["predicted_winner"], found["measured_winner"]) == ("EAP10", "LAP")
    assert (found["keys"], found["groups"]) == ([200, 200], [1, 1500])
    lines = early_text(made).splitlines()
    assert lines[0].startswith("CPU-seconds of all plans in one process, median of 3 runs")
    row = next(line for line in lines if line.startswith("nested, EAP11"))
    assert row.split()[2:] == ["predicted", "3.000", "1.000", "2.000", "4.000", "EAP10"]


def test_a_tiny_size_of_it() -> None:
    told: list[str] = []
    few = [tiny(SETTINGS[0]), tiny(SETTINGS[-1])]
    found = find_winners(Size(repeat=1), COSTS, told.append, few)
    assert told == ["hash joins, where LAP should win", "nested joins, where EAP11 should win"]
    for each in found:
        assert sorted(each.measured) == sorted(each.predicted) == sorted(PLANS)
        assert min(*each.measured.values(), *each.predicted.values()) > 0


def test_the_command_knows_the_benchmark() -> None:
    assert "early" in CliRunner().invoke(app, ["bench", "--help"]).stdout


def test_it_has_data_of_its_own() -> None:
    assert CliRunner().invoke(app, ["bench", "early", "--seconds", "9"]).exit_code == 2
