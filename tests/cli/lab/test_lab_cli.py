"""`penstock lab`: experiments listed and run from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.lab.bars import said_of, watched
from penstock.cli.lab.text import summary_text
from penstock.cli.main import app
from penstock.errors import UsageError
from penstock.experiments import catalog
from penstock.experiments.catalog import EXPERIMENTS
from penstock.experiments.frame.experiment import Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.reports.summary import detail_of, summary_of
from support.experiments.stubs import CRASHING, FINDING, STUBS

RUNNER = CliRunner()


def test_all_experiments_are_listed_by_paper() -> None:
    shown = RUNNER.invoke(app, ["lab", "list"])
    assert shown.exit_code == 0
    for experiment in EXPERIMENTS:
        assert f"  {experiment.name} " in shown.stdout
    listed = json.loads(RUNNER.invoke(app, ["lab", "list", "--format", "json"]).stdout)
    assert [each["name"] for each in listed] == [e.name for e in EXPERIMENTS]


def test_a_run_prints_verdicts_for_programs_and_saves_them(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "lab"
    command = ["lab", "run", "an-figure-7", "--quick", "--format", "json", "--output", str(folder)]
    shown = RUNNER.invoke(app, command)
    assert shown.exit_code == 0
    found = json.loads(shown.stdout)
    assert found["experiments"] == 1
    assert found["claims"] == found["holds"] + found["partly"] + len(found["fails"])
    assert found["details"][0]["name"] == "an-figure-7"
    saved = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert saved == found
    assert "an-figure-7: " in shown.stderr


def test_an_unknown_name_is_the_users_mistake() -> None:
    shown = RUNNER.invoke(app, ["lab", "run", "an-figure-77"])
    assert isinstance(shown.exception, UsageError)
    assert "an-figure-7" in str(shown.exception)


def test_verdicts_and_crashes_are_told_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    reports = list(watched(STUBS, "quick"))
    told = capsys.readouterr().err
    assert "an-stub: 1 of 3 claims hold, 1 partly, 1 fails" in told
    assert "go-crash: crashed: ValueError: no data" in told
    assert [report.experiment for report in reports] == list(STUBS)
    assert said_of(reports[1]).endswith("go-crash: crashed: ValueError: no data & <no> results")
    text = summary_text(summary_of(map(detail_of, reports)))
    assert "  FAILS    <Nothing> holds\n" in text
    assert "why:   0 of 1 conditions met; not so: it does. Noise" in text
    assert text.endswith("3 experiments, 4 claims: 2 hold, 1 partly, 1 fail; 1 crashed\n")
    assert {FINDING.name, CRASHING.name} <= set(text.split())


def _interrupted(size: Size, progress: Progress) -> Findings:
    raise KeyboardInterrupt


def test_what_is_finished_is_told_and_kept_when_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    stopping = replace(CRASHING, run=_interrupted)
    asked = (FINDING, stopping, STUBS[2])
    monkeypatch.setattr(catalog, "chosen", lambda _names: list(asked))
    monkeypatch.setattr(catalog, "EXPERIMENTS", asked)
    shown = RUNNER.invoke(app, ["lab", "run", "all", "--output", str(tmp_path)])
    assert shown.exit_code == 130
    line = shown.stderr.splitlines()[-1]
    assert line == f"stopped: 1 of 3 experiments finished: an-stub; saved in {tmp_path}"
    assert shown.stdout.endswith("1 experiment, 3 claims: 1 hold, 1 partly, 1 fail\n")
    saved = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert [detail["name"] for detail in saved["details"]] == ["an-stub"]
