"""The folder of results: what is in it after runs, good and bad."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.lab.text import summary_text
from penstock.errors import SetupError, SinkError, UsageError
from penstock.experiments.catalog import EXPERIMENTS, chosen
from penstock.experiments.frame.experiment import Experiment
from penstock.experiments.frame.findings import Findings
from penstock.experiments.reports.report import run_experiment
from penstock.experiments.reports.summary import summary_of
from penstock.experiments.results_folder import ResultsFolder
from support.experiments.stubs import FINDING, LAST, STUBS

NAMES = tuple(experiment.name for experiment in STUBS)


def save(folder: Path, *experiments: Experiment) -> dict[str, Any]:
    results = ResultsFolder(folder, NAMES)
    results.prepare()
    for experiment in experiments:
        results.save(run_experiment(experiment, "quick", lambda _done, _total: None))
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return found


def test_figures_data_and_verdicts_are_saved(tmp_path: Path) -> None:
    summary = save(tmp_path, FINDING)
    names = {path.name for path in tmp_path.iterdir()}
    files = {"an-stub.csv", "an-stub.png", "an-stub.svg"}
    assert names == files | {"summary.json", "index.html"}
    counts = {key: summary[key] for key in ("experiments", "claims", "holds", "partly")}
    assert counts == {"experiments": 1, "claims": 3, "holds": 1, "partly": 1}
    failed = {
        "experiment": "an-stub",
        "claim": "<Nothing> holds",
        "paper": "yes",
        "ours": "no",
        "why": "0 of 1 conditions met; not so: it does. Noise",
    }
    assert summary["fails"] == [failed]
    holds = [claim["holds"] for claim in summary["details"][0]["claims"]]
    assert holds == [True, "partly", False]


def test_the_data_of_charts_is_in_the_csv(tmp_path: Path) -> None:
    save(tmp_path, FINDING)
    with (tmp_path / "an-stub.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {
        "chart": "Lines",
        "series": "naive",
        "origin": "measured",
        "x": "2.0",
        "y": "6.0",
    } in rows
    assert {"chart": "Bars", "series": "late", "origin": "measured", "x": "two", "y": ""} in rows
    assert {
        "chart": "Best plans",
        "series": "mesh",
        "origin": "model",
        "x": "1.0",
        "y": "3.0",
    } in rows


def test_a_crash_is_reported_and_ends_nothing_else(tmp_path: Path) -> None:
    summary = save(tmp_path, *STUBS)
    assert summary["experiments"] == 3
    error = "ValueError: no data & <no> results"
    assert summary["crashed"] == [{"experiment": "go-crash", "error": error}]
    assert not (tmp_path / "go-crash.svg").exists()
    assert (tmp_path / "beyond-last.svg").exists()
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "no data &amp; &lt;no&gt; results" in page
    assert "&lt;Nothing&gt; holds" in page


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    without = replace(FINDING, run=lambda _size, _progress: Findings((), (), notes=("no <Java>",)))
    summary = save(tmp_path, FINDING, without)
    assert summary["details"][0]["notes"] == ["no <Java>"]
    assert {path.name for path in tmp_path.iterdir()} == {"summary.json", "index.html"}
    assert "no &lt;Java&gt;" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "  note     no <Java>" in summary_text(summary_of(summary["details"]))


def test_the_page_says_how_to_run_again_and_whose_model_it_is(tmp_path: Path) -> None:
    papers = replace(FINDING, about="See `--plan`.", model="paper")
    summary = save(tmp_path, papers, LAST)
    assert [detail["model"] for detail in summary["details"]] == ["paper", "ours"]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<code>penstock lab run an-stub --quick</code>" in page
    assert "See <code>--plan</code>." in page
    assert "model: the paper’s model" in page
    assert "model: our model" in page


def test_later_runs_join_earlier_ones_in_the_order_of_the_catalog(tmp_path: Path) -> None:
    save(tmp_path, LAST)
    summary = save(tmp_path, FINDING)
    assert [detail["name"] for detail in summary["details"]] == ["an-stub", "beyond-last"]
    again = save(tmp_path, FINDING)
    assert again["experiments"] == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("index.html", "<p>my page</p>"),
        ("an-stub.csv", "a,b\n"),
        ("beyond-last.svg", "<svg/>"),
        ("summary.json", "[1, 2"),
        ("summary.json", '{"version": 1, "mine": true}'),
        ("summary.json", '{"version": 99, "experiments": 0, "details": []}'),
    ],
)
def test_files_of_others_are_refused_and_stay(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SinkError, match=f"not of the laboratory: {name}") as refused:
        save(tmp_path, FINDING)
    assert "another folder" in str(refused.value)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {
        name: text
    }


def test_other_files_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    save(tmp_path, FINDING)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_folder_is_ours_before_the_first_experiment_ends(tmp_path: Path) -> None:
    ResultsFolder(tmp_path, NAMES).prepare()
    (tmp_path / "an-stub.csv").write_text("cut short", encoding="utf-8")
    assert save(tmp_path, FINDING)["experiments"] == 1


def test_a_place_that_cannot_be_written_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SinkError, match="cannot write"):
        ResultsFolder(tmp_path / "file" / "lab", NAMES).prepare()


def test_without_matplotlib_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(SetupError, match=r"pip install 'penstock\[plot\]'"):
        ResultsFolder(tmp_path, NAMES).prepare()


def test_experiments_are_found_by_name_paper_or_all() -> None:
    assert chosen(["all"]) == list(EXPERIMENTS)
    assert {e.paper.key for e in chosen(["A&N"])} == {"an"}
    assert [e.name for e in chosen(["go-table-5", "vn-figure-1", "go-table-5"])] == [
        "vn-figure-1",
        "go-table-5",
    ]


@pytest.mark.parametrize(
    ("name", "meant"), [("an-exmple-1", "an-example-1"), ("table-5", "go-table-5"), ("", "list")]
)
def test_a_wrong_name_is_answered_with_near_ones(name: str, meant: str) -> None:
    with pytest.raises(UsageError, match=meant):
        chosen([name])
