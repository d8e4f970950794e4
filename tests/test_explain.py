"""Explain in its five formats, against golden files; PENSTOCK_GOLDEN=1 rewrites them."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from plan_queries import auction, chain3, hostile, mixed, outputs, star3, stream

from penstock.errors import PlanError
from penstock.plan.choose import default_plan
from penstock.plan.explain import Format, explain
from penstock.plan.explain.figures import expected_state, figures_of
from penstock.plan.force import forced_plan
from penstock.plan.multiway import MultiwayJoin
from penstock.query import Query, RowsWindow, TimeWindow
from penstock.query.window import MICROS, UNBOUNDED

GOLDEN = Path(__file__).parent / "golden" / "explain"
ENDINGS = {"text": "txt", "json": "json", "mermaid": "mmd", "dot": "dot", "html": "html"}
PLANS = {
    "star3": default_plan(star3()),
    "auction": default_plan(auction()),
    "mixed": default_plan(mixed()),
    "general_lazy": forced_plan(chain3(), "A: B A C; C: B/hash A/nested"),
    "hostile": default_plan(hostile()),
}


@pytest.mark.parametrize("format", [*Format])
@pytest.mark.parametrize("name", PLANS)
def test_explain_is_as_reviewed(name: str, format: str) -> None:
    path = GOLDEN / f"{name}.{ENDINGS[format]}"
    said = explain(PLANS[name], format)
    if os.environ.get("PENSTOCK_GOLDEN") == "1":
        path.write_text(said, encoding="utf-8")
    assert said == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_plan_that_json_and_text_show_can_be_forced(plan: MultiwayJoin) -> None:
    chosen = json.loads(explain(plan, "json"))["chosen"]
    assert forced_plan(plan.query, chosen["plan"]) == plan
    assert chosen["probe_orders"] == {o.driver: list(o.targets) for o in plan.orders}


def test_json_has_what_the_contract_promises() -> None:
    said = json.loads(explain(default_plan(star3()), "json"))
    assert list(said) == [
        "version", "goal", "feasible", "chosen", "inputs", "outputs", "alternatives"
    ]  # fmt: skip
    assert said["version"] == 1
    assert said["chosen"]["kind"] == "multiway"
    assert said["chosen"]["shape"] == "(A B C)"
    assert said["chosen"]["keep"] == {"A": 1.0, "B": 1.0, "C": 1.0}
    assert said["chosen"]["state_tuples"] == 60 * (1000 + 50 + 2.5)
    assert said["alternatives"] == []


@pytest.mark.parametrize(
    ("window", "rate", "expected"),
    [
        (TimeWindow(10 * MICROS), 3.0, 30.0),
        (TimeWindow(10 * MICROS, 5 * MICROS), 3.0, 45.0),
        (TimeWindow(0, 10 * MICROS), 3.0, 30.0),
        (TimeWindow(10 * MICROS), None, None),
        (UNBOUNDED, 3.0, None),
        (RowsWindow(7), None, 7.0),
        (RowsWindow(7, ("a",)), 3.0, None),
    ],
)
def test_state_is_rate_times_window(
    window: TimeWindow | RowsWindow, rate: float | None, expected: float | None
) -> None:
    assert expected_state(stream("A", window, rate=rate)) == expected


def test_the_total_is_unknown_if_one_window_is() -> None:
    assert figures_of(default_plan(auction())).state is None
    assert figures_of(default_plan(star3())).state == 63150


def test_a_theta_predicate_is_checked_as_soon_as_its_inputs_are_bound() -> None:
    (theta, _verify) = figures_of(default_plan(mixed())).checks
    assert theta.predicate == "A.a < D.a"
    assert dict(theta.places) == {"A": "D", "B": "D", "C": "D", "D": "A"}


def test_a_forced_order_moves_the_check() -> None:
    plan = forced_plan(mixed(), "B: D A C; A: D B A C")
    (theta, _verify) = figures_of(plan).checks
    assert dict(theta.places)["B"] == "A"
    assert dict(theta.places)["A"] == "A"


def test_text_lines_up_and_stays_narrow() -> None:
    lines = explain(default_plan(auction())).splitlines()
    branches = [line for line in lines if line.startswith(("├─", "└─"))]
    assert len(branches) == 3
    assert branches[0].index(" in ") == branches[1].index(" in ")
    assert max(map(len, lines)) <= 100


def test_long_texts_wrap() -> None:
    inputs = tuple(stream(f"stream_{i:02}") for i in range(8))
    wide = Query(inputs, outputs(*inputs))
    said = explain(default_plan(wide))
    foot = said[said.index("output") :]
    assert max(map(len, foot.splitlines())) <= 100
    assert "stream_07_a" in foot


def test_asked_for_alternatives_text_says_that_there_are_none() -> None:
    assert "no alternatives" in explain(default_plan(star3()), alternatives=True)
    assert "no alternatives" not in explain(default_plan(star3()))


def test_one_stream_alone_can_be_explained() -> None:
    query = Query((stream("A"),), outputs(stream("A")))
    for format in Format:
        assert "A" in explain(default_plan(query), format)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(PlanError, match="no format 'svg'"):
        explain(default_plan(star3()), "svg")


class Page(HTMLParser):
    """Tags that open and close, what they link to, and the text between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_page_is_whole_and_loads_nothing(plan: MultiwayJoin) -> None:
    said = explain(plan, "html")
    page = Page(said)
    assert page.open == []
    assert page.links == []
    assert not page.seen & {"script", "link", "img", "iframe", "i"}
    assert "prefers-color-scheme: dark" in said
    assert not re.search(r"https?://", said)
    assert plan.query.text.strip() in "".join(page.texts)


def test_names_are_escaped_in_every_format() -> None:
    plan = PLANS["hostile"]
    assert "<script>" not in explain(plan, "html")
    assert '"a \\"b\\" <i>\\n' in explain(plan, "dot")
    labels = re.findall(r'"(.*)"', explain(plan, "mermaid"))
    assert labels
    assert not any('"' in label for label in labels)
