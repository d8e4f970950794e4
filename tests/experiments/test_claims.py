"""Claims that hold are tests: every cheap experiment at quick size, and what it finds.

Claims about time are judged but not tested. A claim that does not hold must say what we think is
the reason.
"""

from __future__ import annotations

import pytest

from penstock.experiments.catalog import EXPERIMENTS
from penstock.experiments.frame.experiment import Experiment

CHEAP = [e for e in EXPERIMENTS if e.cheap and not e.on_spark]


@pytest.mark.parametrize("experiment", CHEAP, ids=lambda experiment: experiment.name)
def test_claims_hold_or_say_why_not(experiment: Experiment) -> None:
    steps: list[tuple[int, int]] = []
    findings = experiment.run("quick", lambda done, total: steps.append((done, total)))
    assert findings.charts
    assert findings.claims
    assert findings.data.rows
    assert all(0 <= done <= total for done, total in steps)
    broken = [c for c in findings.claims if c.verdict != "holds" and not c.timed and not c.reason]
    assert broken == []


def test_names_begin_with_their_paper_and_are_unique() -> None:
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(set(names)) == len(names)
    for experiment in EXPERIMENTS:
        assert experiment.name.startswith(f"{experiment.paper.key}-")
        assert experiment.question.endswith("?")
        assert experiment.about.endswith(".")
