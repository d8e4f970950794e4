"""Pictures: whole, apart from each other, escaped, and loading nothing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as Xml
from html.parser import HTMLParser

import pytest

import penstock as ps
from penstock.plan.explain import explain
from penstock.query import Query
from support.plans.explained import DECISIONS, decided
from support.plans.plan_queries import (
    decision,
    guessed,
    outputs,
    stream,
    table,
)

EVERYTHING = pytest.mark.parametrize("name", DECISIONS)


def test_pictures_without_room_for_alternatives_say_who_lists_them() -> None:
    remark = "alternatives: 2, listed by text, json and html"
    assert f"%% {remark}\n" in explain(decided("left_deep"), "mermaid", alternatives=True)
    assert f"// {remark}\n" in explain(decided("left_deep"), "dot", alternatives=True)
    assert "alternatives" not in explain(decided("left_deep"), "dot")


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


@EVERYTHING
def test_the_page_is_whole_and_loads_nothing(name: str) -> None:
    made = decided(name)
    said = explain(made, "html", alternatives=True)
    page = Page(said)
    assert page.open == []
    assert page.links == []
    assert not page.seen & {"script", "link", "img", "iframe", "i"}
    assert "prefers-color-scheme: dark" in said
    assert not re.search(r"https?://", said)
    assert made.plan.query.text.strip() in "".join(page.texts)


def pictures(page: str) -> list[str]:
    """The pictures of a page: for wide windows, and for narrow ones."""
    found = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(found) == 2
    return found


def boxes(page: str) -> list[tuple[int, int, int, int]]:
    found = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', page)
    return [(int(x), int(y), int(x) + int(w), int(y) + int(h)) for x, y, w, h in found]


def segments(page: str) -> list[tuple[int, int, int, int]]:
    """The straight parts of all arrows, as the rectangles that they fill."""
    found = []
    for path in re.findall(r'class="flow" d="M([^"]*)"', page):
        x, y = map(int, re.findall(r"^(\d+) (\d+)", path)[0])
        for way, value in re.findall(r"([HV])(\d+)", path):
            to = (int(value), y) if way == "H" else (x, int(value))
            found.append((min(x, to[0]), min(y, to[1]), max(x, to[0]), max(y, to[1])))
            x, y = to
    return found


def overlap(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


SVG = "{http://www.w3.org/2000/svg}"


@EVERYTHING
def test_the_picture_alone_is_a_file_that_says_what_the_page_shows(name: str) -> None:
    made = decided(name)
    said = explain(made, "svg")
    picture = Xml.fromstring(said)
    assert picture.tag == f"{SVG}svg"
    assert "prefers-color-scheme: dark" in said
    assert not {each.tag for each in picture.iter()} & {f"{SVG}script", f"{SVG}image"}
    wide, _ = pictures(explain(made, "html"))
    shown = [text.text for text in picture.iter(f"{SVG}text")]
    assert shown == [each.text for each in Xml.fromstring(wide).iter("text")]


def test_the_pictures_of_a_script_stand_below_one_another() -> None:
    text = """
    CREATE STREAM bid (ts TIMESTAMP, item INT) WITH (format = 'csv', path = 'b', timestamp = 'ts');
    CREATE STREAM high AS SELECT item FROM bid [NOW] WHERE item > 9;
    SELECT h.item FROM high [NOW] AS h, bid [RANGE 1 SECOND] AS b WHERE h.item = b.item INTO both;
    """
    picture = Xml.fromstring(ps.script(text).explain("svg"))
    inner = picture.findall(f"{SVG}svg")
    tops = [int(each.get("y", "0")) for each in inner]
    ends = [top + int(each.get("height", "0")) for top, each in zip(tops, inner, strict=True)]
    titles = [text.text or "" for text in picture.findall(f"{SVG}text")]
    assert [re.split(r"\W", title)[0] for title in titles] == ["high", "both"]
    assert ends[0] < tops[1]
    assert ends[1] < int(picture.get("height", "0"))


SEVEN = [f"S{i}" for i in range(7)]


@pytest.mark.parametrize(
    "plan",
    [
        None,
        "((((((S0 S1) S2) S3) S4) S5) S6)",
        "(S0 (S1 (S2 (S3 (S4 (S5 S6))))))",
        "(((S0 S1) (S2 S3)) ((S4 S5) S6))",
        "((S0 ((S1 S2) (S3 S4))) (S5 S6))",
    ],
)
def test_nothing_overlaps_in_the_picture(plan: str | None) -> None:
    inputs = tuple(table(name) if name == "S6" else stream(name) for name in SEVEN)
    page = explain(decision(guessed(Query(inputs, outputs(*inputs))), plan), "html")
    for picture in pictures(page):
        drawn, lines = boxes(picture), segments(picture)
        assert len(drawn) > 7
        assert len(lines) > 7
        assert not [(a, b) for i, a in enumerate(drawn) for b in drawn[:i] if overlap(a, b)]
        assert not [(a, b) for a in lines for b in drawn if overlap(a, b)]


def test_names_are_escaped_in_every_format() -> None:
    for name in ("hostile", "tree_hostile"):
        made = decided(name)
        assert "<script>" not in explain(made, "html")
        assert '"a \\"b\\" <i>\\n' in explain(made, "dot")
        labels = re.findall(r'"(.*)"', explain(made, "mermaid"))
        assert labels
        assert not any('"' in label for label in labels)
