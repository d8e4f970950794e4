"""The HTML page: what it shows of views, and that nothing on it is cut off at any width."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

import penstock as ps

LONG = "the_measurements_of_all_the_northern_stations"
STREAMS = "".join(
    f"CREATE STREAM {name} (k BIGINT, g BIGINT, v DOUBLE, ts TIMESTAMP) "
    "WITH (format='synthetic', rate=10, timestamp='ts');\n"
    for name in ("flow", "speed", LONG, *"ABCDEFGHIJ")
)
VIEW = (
    STREAMS + "SELECT f.g, COUNT(*) AS n, SUM(s.v) AS total FROM flow [RANGE 50 SECONDS] AS f, "
    "speed [RANGE 50 SECONDS] AS s WHERE f.k = s.k GROUP BY f.g HAVING COUNT(*) > 2 EVERY 5 SECONDS"
)
VIEWS = {
    "kept": "f: s; s: f",
    "early": "f: s; s: f | early s",
    "recompute": "f: s; s: f | early f s | recompute f",
    "tree": "(f s)",
}
JOIN = STREAMS + (
    "SELECT A.v FROM A [RANGE 5 SECONDS], B [RANGE 5 SECONDS], C [RANGE 5 SECONDS] "
    "WHERE A.k = B.k AND B.k = C.k AND A.v + 17 * A.g + 3 < B.v + 19 * B.g + 5"
)


def chain(names: str) -> str:
    froms = ", ".join(f"{name} [RANGE 5 SECONDS]" for name in names)
    where = " AND ".join(f"{names[0]}.k = {name}.k" for name in names[1:])
    return f"{STREAMS}SELECT {names[0]}.v FROM {froms} WHERE {where}"


def pictures(page: str) -> list[str]:
    found = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(found) == 2
    return found


def drawn(picture: str) -> dict[str, str]:
    """The text of each box, by its name."""
    found = {}
    for group in re.findall(r"<g class.*?</g>", picture, re.DOTALL):
        lines = re.findall(r"<text[^>]*>(.*?)</text>", group)
        found[unescape(lines[0])] = " ".join(map(unescape, lines))
    return found


@pytest.mark.parametrize("plan", VIEWS.values(), ids=VIEWS)
def test_the_picture_of_a_view_shows_what_it_aggregates_and_when(plan: str) -> None:
    page = ps.sql(VIEW, plan=plan).explain("html")
    for picture in pictures(page):
        said = drawn(picture)
        for part in ("by f.g", "COUNT(*), SUM(s.v)", "having COUNT(*) > 2", "every 5 SECONDS"):
            assert part in said["view"]
        how = "recomputed" if "recompute" in plan else "kept from batch to batch"
        assert how in said["view"]
        assert "changes" in said
        assert "results" not in said
        assert ("folded by (s.k)" in said["s (speed)"]) == ("early" in plan)
    assert re.search(r"<dt>changes</dt><dd>~[\d.,]+/s</dd>", page)
    assert "estimated, from" in page


def test_the_headline_of_a_view_is_its_changes_in_every_format() -> None:
    query = ps.sql(VIEW, plan="f: s; s: f")
    changes = query.decision.chosen.estimate.changes
    assert changes is not None
    shown = f"~{changes:,.3g}"
    assert f"out {shown} changes/s" in query.explain().splitlines()[0]
    assert "joined  ~100/s results, which the view aggregates\n" in query.explain()
    for format in ("mermaid", "dot"):
        said = query.explain(format)
        assert "every 5 SECONDS" in said
        assert re.search(rf"changes(<br/>|\\n)out {re.escape(shown)}/s", said)
    table = query.explain(alternatives=True)
    assert "  changes/s  " in table
    assert "  out/s  " not in table


def test_streams_are_named_beside_their_aliases() -> None:
    query = ps.sql(VIEW)
    for format in ("text", "mermaid", "dot", "html"):
        said = query.explain(format)
        assert "f (flow)" in said
        assert "s (speed)" in said
    assert "A (A)" not in ps.sql(JOIN).explain("html")


def test_utilization_is_a_part_of_the_capacity() -> None:
    once, twice = (ps.sql(JOIN, capacity=capacity) for capacity in (1.0, 2.0))
    work = once.decision.chosen.estimate.utilization
    assert f"<dt>utilization</dt><dd>~{100 * work:.3g} %</dd>" in once.explain("html")
    assert f"<dt>utilization</dt><dd>~{50 * work:.3g} %</dd>" in twice.explain("html")


PAGES: dict[str, dict[str, Any]] = {
    "a join": {"text": JOIN, "plan": "A: B C; B: C A; C: B A"},
    "a tree": {"text": JOIN, "plan": "((A B) C)"},
    "a view": {"text": VIEW},
    "a shed view": {"text": VIEW, "capacity": 1e-6, "shed": True},
    "ten streams": {"text": chain("ABCDEFGHIJ"), "kinds": ["multiway"]},
    "ten streams two by two": {
        "text": chain("ABCDEFGHIJ"),
        "plan": "(((((((((A B) C) D) E) F) G) H) I) J)",
    },
    "an eddy": {"text": JOIN, "plan": "eddy"},
    "one stream": {"text": f"{STREAMS}SELECT v FROM A [NOW]"},
    "long names": {"text": f"{STREAMS}SELECT {LONG}.v FROM {LONG} [NOW], A [NOW] WHERE A.k > 5"},
}


@pytest.mark.parametrize("options", PAGES.values(), ids=PAGES)
def test_nothing_is_cut_off(options: dict[str, Any]) -> None:
    """Pictures are as wide as the page, all text is in its box, nothing needs to be scrolled."""
    page = ps.sql(**options).explain("html", alternatives=True)
    assert "overflow-x" not in page
    assert "min-width: 6" not in page
    for picture, most in zip(pictures(page), (1280, 600), strict=True):
        width, height = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', picture)[0])
        assert width <= most
        assert "…" not in picture
        for group in re.findall(r"<g class.*?</g>", picture, re.DOTALL):
            x, y, w, h = map(int, re.findall(r'="(\d+)"', re.findall("<rect[^>]*>", group)[0])[:4])
            assert x + w <= width
            assert y + h <= height
            for left, base, name, line in re.findall(
                r'<text x="(\d+)" y="(\d+)"( class="name")?>(.*?)</text>', group
            ):
                size = 8.7 if name else 7.4
                assert int(left) + size * len(unescape(line)) <= x + w
                assert y < int(base) < y + h


def test_plans_on_the_page_are_whole() -> None:
    query = ps.sql(VIEW)
    others = json.loads(query.explain("json", alternatives=True))["alternatives"]
    page = query.explain("html", alternatives=True)
    plans = [unescape(plan) for plan in re.findall(r"colspan.*?<code>(.*?)</code>", page)]
    assert plans[1:] == [other["plan"] for other in others]
