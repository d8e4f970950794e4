"""The figures of the drift benchmark, and its options."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from penstock.bench.drift.cases.following import Setting, follow
from penstock.bench.drift.figures import document
from penstock.bench.drift.run import Found
from penstock.bench.drift.streams.steps import STAR3, Size, swapped_rates
from penstock.bench.drift.text import drift_text
from penstock.cli.main import app


def test_the_figures_have_the_names_that_are_promised(tmp_path: Path) -> None:
    setting = Setting(tmp_path, progress=lambda what: None, repeat=1)
    steps = (follow(swapped_rates(STAR3, Size(3, 3_000.0)), setting),)
    found = Found(steps)
    made = document(found, "local", 1)
    assert list(made)[1:10] == [
        *("step", "square", "stationary", "near_tie", "wrong_stats"),
        *("content", "burst", "migration", "exact"),
    ]
    step = made["step"]
    assert isinstance(step, dict)
    assert {"batches_to_notice", "batches_to_settle"} <= set(step)
    assert {"work_vs_clairvoyant", "gain_vs_best_static"} <= set(step)
    assert made["exact"] is True
    json.dumps(made)
    text = drift_text(found, "local", 1)
    assert "star3-rates" in text


def test_an_engine_goes_with_few_benchmarks() -> None:
    asked = CliRunner().invoke(app, ["bench", "mesh", "--engine", "spark"])
    assert asked.exit_code == 2
    assert "drift, shed and shared alone" in asked.output
