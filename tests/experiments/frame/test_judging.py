"""Verdicts follow from the data."""

from __future__ import annotations

import pytest

from penstock.experiments.frame.claim import Verdict
from penstock.experiments.frame.judging import all_near, checked, figure_text, near, ranked


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(100.0, "holds"), (102.0, "holds"), (98.0, "holds"), (105.0, "partly"), (107.0, "fails")],
)
def test_a_figure_holds_within_what_is_allowed(ours: float, verdict: Verdict) -> None:
    claim = near("x", paper=100.0, ours=ours, within=0.02)
    assert claim.verdict == verdict
    assert claim.paper == "100"


def test_a_figure_of_nothing_is_compared_as_it_is() -> None:
    assert near("x", paper=0.0, ours=0.001, within=0.01).verdict == "holds"
    assert near("x", paper=0.0, ours=0.5, within=0.01).verdict == "fails"


def test_of_many_figures_the_worst_counts() -> None:
    paper, ours = {"a": 10.0, "b": 20.0}, {"a": 10.0, "b": 40.0, "c": 5.0}
    claim = all_near("x", paper=paper, ours=ours, within=0.1, unit=" s", reason="because")
    assert claim.verdict == "fails"
    assert claim.ours == "a: 10 s, b: 40 s"
    assert claim.explanation == "off by 100 % at most, 10 % allowed. because"


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ({"a": 1.0, "b": 2.0, "c": 3.0}, "holds"),
        ({"a": 1.0, "b": 3.0, "c": 2.0}, "partly"),
        ({"a": 2.0, "b": 1.0, "c": 3.0}, "fails"),
    ],
)
def test_an_order_holds_partly_if_the_first_is_the_same(
    ours: dict[str, float], verdict: Verdict
) -> None:
    assert ranked("x", paper=("a", "b", "c"), ours=ours).verdict == verdict
    negated = {name: -value for name, value in ours.items()}
    assert ranked("x", paper=("a", "b", "c"), ours=negated, descending=True).verdict == verdict


@pytest.mark.parametrize(
    ("checks", "verdict", "why"),
    [
        ({"one": True, "two": True}, "holds", "one; two"),
        ({"one": True, "two": False}, "partly", "1 of 2 conditions met; not so: two"),
        ({"one": False}, "fails", "0 of 1 conditions met; not so: one"),
        ({str(n): True for n in range(9)}, "holds", "all 9 conditions met"),
    ],
)
def test_conditions_hold_all_or_partly(checks: dict[str, bool], verdict: Verdict, why: str) -> None:
    claim = checked("x", paper="", ours="", checks=checks, reason="a cause")
    assert (claim.verdict, claim.why) == (verdict, why)
    assert ("a cause" in claim.explanation) == (verdict != "holds")


def test_figures_have_about_four_digits() -> None:
    texts = {0.0: "0", 12345.6: "12,346", 3.14159: "3.142", 0.25: "0.25", 1e-7: "1.00e-07"}
    assert {value: figure_text(value) for value in texts} == texts
