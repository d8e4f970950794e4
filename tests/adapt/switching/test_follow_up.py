"""The follow-up of switches: which batches the plan before is known by."""

from __future__ import annotations

import pytest

from penstock.adapt.planning.expected import Expectation, Load
from penstock.adapt.planning.weighing import Candidate
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.adapt.switching.follow_up import FollowUp, Switch
from penstock.cql import parse
from penstock.plan.text.parse import forced_plan
from penstock.stats.guess import complete
from penstock.stats.known import Known

QUERY = parse(
    """
CREATE STREAM a (ts BIGINT, k INT) WITH (format='csv', path='a', timestamp='ts', unit='s');
CREATE STREAM b (ts BIGINT, k INT) WITH (format='csv', path='b', timestamp='ts', unit='s');
SELECT a.k FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS] WHERE a.k = b.k
"""
)


def test_a_switch_is_compared_with_the_batches_just_before_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rush that is the reason for it has come with the last of them."""
    known, plan = complete(QUERY), forced_plan(QUERY, "a: b; b: a")
    monkeypatch.setattr(Expectation, "seconds", seconds_of_load)
    followed = FollowUp(DEFAULT_SETTINGS)
    for seconds in (9.0, *[1.0] * 8, 3.0, 4.0):
        followed.hear(2.0 * seconds, Load(seconds, {}, {}), plan, lambda: known)
    each = Candidate(plan, "a: b; b: a", 1.0)
    followed.begin(Switch(11, each, each, known, 0.1), known)
    usual = followed.judge.usual
    assert usual is not None
    assert (usual.least, usual.most) == (1.0, 4.0)
    assert usual.seconds(4.0) == pytest.approx(8.0)
    followed.drop()
    followed.begin(Switch(12, each, each, known, 0.1), known)
    assert not followed.judge.is_judging


def seconds_of_load(expected: Expectation, known: Known, plan: object, load: Load) -> float:
    return load.seconds
