"""The claims about T&L's figures: what does not rise, or goes past, does not hold."""

from __future__ import annotations

import pytest

from penstock.experiments.aggregation_join.trends import trend_claims
from penstock.experiments.aggregation_join.varied import Curves, Found, Varied
from penstock.experiments.frame.claim import Claim

PLANS = ("LAP", "EAP01", "EAP10", "EAP11")
LINE = {1000.0: 1.0, 2000.0: 2.0, 5000.0: 5.0}
FLAT = {1000.0: 1.0, 2000.0: 1.0, 5000.0: 1.0}
CREEPING = {1000.0: 1.0, 2000.0: 1.0, 5000.0: 1.1}
LESS = {1000.0: 0.1, 2000.0: 0.2, 5000.0: 0.5}


def claim_of(window: Curves, groups: Curves, rate: Curves, beginning: str) -> Claim:
    selectivity = dict.fromkeys(PLANS, LINE)
    panels: dict[Varied, Curves] = {
        "window": window,
        "groups": groups,
        "rate": rate,
        "selectivity": selectivity,
    }
    found = {name: Found(curves, curves) for name, curves in panels.items()}
    (claim,) = (claim for claim in trend_claims(found, "hash") if claim.text.startswith(beginning))
    return claim


def curves(late: dict[float, float], early: dict[float, float]) -> Curves:
    return {"LAP": late, "EAP01": late, "EAP10": early, "EAP11": early}


RATE = {"LAP": LINE, "EAP10": LINE, "EAP01": LESS, "EAP11": LESS}


@pytest.mark.parametrize(
    ("late", "early", "verdict"),
    [(LINE, FLAT, "holds"), (FLAT, FLAT, "partly"), (LINE, CREEPING, "partly")],
)
def test_a_flat_line_does_not_rise_and_a_rising_one_is_not_constant(
    late: dict[float, float], early: dict[float, float], verdict: str
) -> None:
    claim = claim_of(curves(late, early), RATE, RATE, "With a larger window")
    assert claim.verdict == verdict


@pytest.mark.parametrize(("end", "verdict"), [(0.8, "fails"), (1.05, "holds"), (1.2, "fails")])
def test_to_approach_is_to_come_near_and_not_to_go_past(end: float, verdict: str) -> None:
    early = {1000.0: 0.1, 2000.0: 0.5, 5000.0: end}
    claim = claim_of(RATE, curves(FLAT, early), RATE, "With more groups")
    assert claim.verdict == verdict


def test_a_flat_line_is_no_rise_with_the_rate() -> None:
    flat = {**RATE, "EAP01": FLAT}
    assert claim_of(RATE, RATE, RATE, "With a faster").verdict == "holds"
    assert claim_of(RATE, RATE, flat, "With a faster").verdict == "partly"
