"""Queries as they are written: windows, conditions and outputs."""

from __future__ import annotations

import pytest

from penstock.query import RowsWindow, TimeWindow
from penstock.query.window import NOW, UNBOUNDED, tumble
from support.streams.auction import ask


@pytest.mark.parametrize(
    ("written", "window"),
    [
        ("RANGE 10 SECONDS", TimeWindow(10_000_000)),
        ("range '10' second", TimeWindow(10_000_000)),
        ("RANGE '10 seconds'", TimeWindow(10_000_000)),
        ("RANGE 1.5 ms", TimeWindow(1_500)),
        ("RANGE 10ms", TimeWindow(10_000)),
        ("RANGE 7 MICROSECONDS", TimeWindow(7)),
        ("RANGE 2 HOURS SLIDE 1 DAY", TimeWindow(7_200_000_000, 86_400_000_000)),
        ("WINDOW 1 HOUR", TimeWindow(3_600_000_000)),
        ("WINDOW UNTIL NOW", UNBOUNDED),
        ("UNBOUNDED", UNBOUNDED),
        ("now", NOW),
        ("TUMBLE 1 min", tumble(60_000_000)),
        ("ROWS 100", RowsWindow(100)),
        ("partition  by AUCTION, bidder ROWS 3", RowsWindow(3, ("auction", "bidder"))),
    ],
)
def test_windows_of_every_kind_may_stand_before_and_after_the_alias(
    written: str, window: object
) -> None:
    for item in (f"bid [{written}] AS b", f"bid b [{written}]", f"bid AS b[{written}]"):
        (only,) = ask(f"SELECT price FROM {item}").inputs
        assert (only.alias, only.window) == ("b", window)


def test_where_and_on_are_split_into_equalities_filters_and_thetas() -> None:
    query = ask(
        """
        SELECT b.price FROM bid [NOW] b JOIN auction [NOW] a ON b.auction = a.id AND b.price > 1,
        person p WHERE (b.bidder + 1 = p.id AND a.reserve < b.price) AND b.note = 'x'
        AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '5' SECONDS AND b.auction = b.bidder
        AND (a.id = p.id OR a.seller = p.id) AND a.id + p.id = b.auction
        """
    )
    assert [str(equality) for equality in query.equalities] == [
        "b.auction = a.id",
        "CAST(b.bidder AS BIGINT) + 1 = p.id",
    ]
    assert [str(each) for each in query.filters] == [
        "b.price > 1.0",
        "b.note = 'x'",
        "b.auction = CAST(b.bidder AS BIGINT)",
    ]
    assert [str(each) for each in query.thetas] == [
        "CAST(a.reserve AS DOUBLE) < b.price",
        "b.ts >= a.ts",
        "b.ts <= (a.ts + INTERVAL '5 SECONDS')",
        "(CAST(a.id AS BIGINT) = p.id) OR (a.seller = p.id)",
        "(CAST(a.id AS BIGINT) + p.id) = b.auction",
    ]
    assert [item.is_table for item in query.inputs] == [False, False, True]


def test_a_star_names_columns_after_their_input_where_two_have_the_same() -> None:
    names = [out.name for out in ask("SELECT * FROM auction [NOW] AS a, person AS p").outputs]
    assert names == ["ts", "a_id", "seller", "reserve", "p_id", "name"]
    twice = ask("SELECT x.*, y.ts AS other FROM auction [NOW] x, auction [ROWS 2] y")
    assert [out.name for out in twice.outputs] == ["ts", "id", "seller", "reserve", "other"]


def test_an_output_without_a_name_is_called_by_its_position() -> None:
    query = ask("SELECT b.PRICE, price * 2, note AS n, price + 1 FROM bid [NOW] AS b")
    assert [out.name for out in query.outputs] == ["price", "col2", "n", "col4"]
