"""The orders of G&O's heuristics, and claims that could fail."""

from __future__ import annotations

import pytest

from penstock.experiments.multi_join.rules import AUGMENTED, Rules, rule_claims, rules_of
from penstock.experiments.multi_join.windows import setting_of

TABLE_7 = setting_of([(11, 100, 200), (10, 100, 100), (1, 100, 65), (1, 100, 20)])
COSTS = {"3412": 49_542.0, "3142": 47_977.0, "3124": 51_954.0, "1234": 103_973.0}


def test_moving_one_fast_stream_up_gives_the_best_order_of_table_7() -> None:
    assert rules_of(TABLE_7) == Rules(plain="3412", augmented="3142")


@pytest.mark.parametrize(("augmented", "verdict"), [("3142", "holds"), ("3124", "partly")])
def test_another_order_than_the_papers_does_not_hold(augmented: str, verdict: str) -> None:
    given, mean, below = rule_claims(7, Rules("3412", augmented), COSTS)
    assert given.verdict == verdict
    assert mean.verdict == "holds"
    assert below.verdict == "holds"
    assert AUGMENTED[7] in given.paper
