"""The experiment on Spark where there is no Java: it is left out, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli.lab.text import summary_text
from penstock.experiments.reports.report import run_experiment
from penstock.experiments.reports.summary import detail_of, summary_of
from penstock.experiments.setting.java import has_java
from penstock.experiments.sliding_windows.on_spark import EXPERIMENT


def test_without_java_it_is_left_out_with_a_word(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if has_java():
        pytest.skip("a Java comes with the packages that are installed")
    report = run_experiment(EXPERIMENT, "quick", lambda done, total: None)
    summary = summary_of([detail_of(report)])
    assert (summary["claims"], summary["crashed"]) == (0, [])
    assert "note     Spark needs Java" in summary_text(summary)
