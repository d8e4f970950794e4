"""Windows: as they are rendered they are read again."""

from __future__ import annotations

import pytest

from penstock.query.window import (
    NOW,
    UNBOUNDED,
    RowsWindow,
    TimeWindow,
    Window,
    is_tumble,
    render_window,
    tumble,
)
from support.streams.two_streams import query


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (NOW, "NOW"),
        (UNBOUNDED, "UNBOUNDED"),
        (tumble(90_000_000), "TUMBLE 90 SECONDS"),
        (TimeWindow(1), "RANGE 1 MICROSECOND"),
        (TimeWindow(5_000_000, slide=2_000), "RANGE 5 SECONDS SLIDE 2 MILLISECONDS"),
        (RowsWindow(7), "ROWS 7"),
        (RowsWindow(7, ("k", "ts")), "PARTITION BY k, ts ROWS 7"),
    ],
)
def test_a_window_is_read_as_it_is_rendered(window: Window, text: str) -> None:
    for written in (text, render_window(window)):
        (item,) = query(f"SELECT a.k FROM a [{written}]").inputs
        assert item.window == window


def test_a_table_has_no_window() -> None:
    assert render_window(None) == "table"


def test_now_is_no_block() -> None:
    assert not is_tumble(NOW)
    assert is_tumble(tumble(2))
    assert not is_tumble(TimeWindow(2, slide=2))
