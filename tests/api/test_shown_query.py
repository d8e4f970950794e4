"""A query shows itself: at a prompt as its plan, in a notebook as a page."""

from __future__ import annotations

from html import unescape

import pytest

import penstock as ps

TEXT = """
CREATE STREAM a (ts TIMESTAMP, k INT) WITH (format='csv', path='a', timestamp='ts', rate=10);
CREATE STREAM b (ts TIMESTAMP, k INT) WITH (format='csv', path='b', timestamp='ts', rate=10);
SELECT a.k FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
"""


def test_at_a_prompt_it_is_its_plan() -> None:
    query = ps.sql(TEXT)
    assert repr(query) == query.explain().rstrip()
    assert "Join" in repr(query)


def test_in_a_notebook_it_is_a_page_in_a_frame() -> None:
    query = ps.sql(TEXT)
    shown = query._repr_html_()
    assert shown is not None
    assert shown.startswith("<iframe srcdoc=")
    page = shown.split('"')[1]
    assert unescape(page) == query.explain("html")
    assert "<svg" in unescape(page)
    assert "http" not in page


@pytest.mark.parametrize("plan", ["(a z)", "(a"])
def test_what_cannot_be_planned_says_so(plan: str) -> None:
    query = ps.sql(TEXT, plan=plan)
    with pytest.raises(ps.PenstockError) as caught:
        query.explain()
    said = caught.value.message
    assert repr(query) == f"<ContinuousQuery that cannot be planned: {said}>"
    assert "\n" not in repr(query)
    assert query._repr_html_() is None
