"""Plans that recompute a view, as text and back."""

from __future__ import annotations

import pytest

from penstock.errors import PlanError
from penstock.optimize.options import KINDS, SWITCHES, checked
from penstock.plan.plan import recomputed_by
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
from support.plans.planning import query_of
from support.plans.recomputed import COLUMNS, view, with_table


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("A: B C; B: A C; C: B A | early A B C | recompute C", None),
        (
            "A: B C; B: A C; C: B A|early B,A|recompute B",
            "A: B C; B: A C; C: B A | early A B | recompute B",
        ),
        ("(A B C) | early A | recompute C", "A: B C; B: A C; C: A B | early A | recompute C"),
        ("| early B | recompute A", "A: B C; B: A C; C: A B | early B | recompute A"),
    ],
)
def test_text(text: str, rendered: str | None) -> None:
    plan = forced_plan(view(), text)
    assert render_plan(plan) == (rendered or text)
    assert forced_plan(view(), render_plan(plan)) == plan
    assert recomputed_by(plan) == text[-1]


def test_names_that_are_words_of_the_notation() -> None:
    query = query_of(
        "SELECT COUNT(*) AS n FROM early [NOW], recompute [NOW] WHERE early.k = recompute.k",
        {"early": "k", "recompute": "k"},
    )
    text = "early: recompute; recompute: early | early early recompute | recompute recompute"
    plan = forced_plan(query, text)
    assert (plan.early, recomputed_by(plan)) == (("early", "recompute"), "recompute")
    assert render_plan(plan) == text
    assert (
        recomputed_by(forced_plan(query, "early: recompute; recompute: early | early recompute"))
        is None
    )


@pytest.mark.parametrize(
    "text",
    [
        "A: B C; B: A C; C: B A | early A B C | anew C",
        "A: B C; B: A C; C: B A|early B,A|anew B",
        "(A B C) | early A | anew C",
    ],
)
def test_plans_written_with_0_1_are_read(text: str) -> None:
    today = text.replace("anew", "recompute")
    plan = forced_plan(view(), text)
    assert plan == forced_plan(view(), today)
    assert recomputed_by(plan) == text[-1]
    assert "anew" not in render_plan(plan)
    for wrong, (message, _, _) in WRONG.items():
        with pytest.raises(PlanError) as raised:
            forced_plan(view(), wrong.replace("recompute", "anew"))
        assert raised.value.message in (message, message.replace("recompute", "anew"))


def test_switches_of_0_1_are_read() -> None:
    assert checked(["anew", "mesh"], SWITCHES, "optimisation") == {"recompute", "mesh"}
    with pytest.raises(PlanError, match="no kind of plans 'anew'"):
        checked(["anew"], KINDS, "kind of plans")


WRONG = {
    "| early A | recompute": (
        "recompute names no stream",
        "recompute",
        "name the stream that drives",
    ),
    "| early A | recompute A B": ("only one name belongs after recompute", "B", "name the stream"),
    "| early A | recompute A; B: A": (
        "only one name belongs after recompute",
        ";",
        "name the stream",
    ),
    "| early A | recompute ; A": ("only a name belongs after recompute", ";", "name the stream"),
    "| early A | recompute A | early B": (
        "only one name belongs after recompute",
        "|",
        "name the stream",
    ),
    "| early A | recompute X": ("no input is called X", "X", "the query has A, B, C"),
    "| early A | recompute A/hash": ("a driver has no method", "A/hash", "methods belong"),
    "| recompute A": ("recompute stands after early", "recompute", "first name the inputs"),
    "A: B C | recompute A | early A": (
        "recompute stands after early",
        "recompute",
        "first name the inputs",
    ),
    "((A B) C) | early A | recompute A": ("a tree is not recomputed", "A", "only a multi-way join"),
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_text(text: str) -> None:
    message, marked, hint = WRONG[text]
    check_refused(view(), text, message, marked, hint)


def check_refused(query: Query, text: str, message: str, marked: str, hint: str) -> None:
    with pytest.raises(PlanError) as raised:
        forced_plan(query, text)
    place = raised.value.place
    assert raised.value.message == message
    assert hint in (raised.value.hint or "")
    assert place is not None
    assert text[place.start : place.end] == marked


NOTHING_KEPT = "of one stream nothing is kept to recompute a view from"


def test_queries_that_are_not_recomputed() -> None:
    joined = "SELECT A.g FROM A [NOW], B [NOW] WHERE A.k = B.k"
    plain = query_of(joined, dict.fromkeys("AB", COLUMNS))
    for query, text, message, marked, hint in (
        (plain, "| early A | recompute A", "the query aggregates nothing", "early", "GROUP BY"),
        (
            with_table(view(m=2)),
            "| early A | recompute B",
            "B is a table and drives nothing",
            "B",
            "the streams are A",
        ),
        (
            view("ROWS 50"),
            "| early A | recompute A",
            "a view over ROWS windows is recomputed in any case",
            "recompute",
            "leave out `| recompute A`",
        ),
        *(
            (one, "| early A | recompute A", NOTHING_KEPT, "recompute", "two streams")
            for one in (view(m=1), with_table(view(m=2)))
        ),
    ):
        check_refused(query, text, message, marked, hint)
