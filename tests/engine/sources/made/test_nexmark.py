"""Nexmark's streams: one sequence of events, in its proportions, made alike from any block."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.cql import parse
from penstock.engine.expressions.arrow_types import schema_of
from penstock.engine.sources.made.event_times import EventTimes
from penstock.engine.sources.made.made import made_of
from penstock.engine.sources.made.nexmark_columns import ACTIVE_PEOPLE, FIRST_ID, IN_FLIGHT, LEAD
from penstock.engine.sources.made.rate_shape import RateShape
from penstock.errors import SourceError
from penstock.query import Source
from penstock.stats.guess import complete

START = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
SECOND = 1_000_000
Numbers = np.ndarray[Any, np.dtype[np.int64]]


def stream(kind: str, options: str = "rows = 100000", rate: float = 10_000) -> Source:
    text = f"CREATE STREAM {kind} WITH (format = 'nexmark', rate = {rate}, {options});"
    return parse(f"{text} SELECT * FROM {kind} [NOW]").inputs[0].source


def made(
    source: Source, cuts: Sequence[int] = (), columns: Sequence[str] | None = None
) -> tuple[pa.Table, Numbers]:
    """All tuples of a stream, made in the slices between the cuts, and their arrival numbers."""
    generator, names = made_of(source), columns or [field.name for field in source.fields]
    assert generator.blocks is not None
    edges = [0, *sorted(min(cut, generator.blocks) for cut in cuts), generator.blocks]
    parts = [p for first, last in pairwise(edges) for p in generator.generate(first, last, names)]
    return pa.Table.from_batches([b for b, _ in parts]), np.concatenate([n for _, n in parts])


def numbers(table: pa.Table, column: str) -> Numbers:
    found: Numbers = table[column].cast(pa.int64()).to_numpy()
    return found


def test_columns_have_their_types_and_kinds_come_as_1_3_46() -> None:
    counts = {}
    for kind in ("person", "auction", "bid"):
        source = stream(kind)
        table, places = made(source)
        assert table.schema == schema_of(source.fields)
        assert sum(column.null_count for column in table.columns) == 0
        assert (np.diff(places) > 0).all()
        counts[kind] = table.num_rows
    assert counts == {"person": 2_000, "auction": 6_000, "bid": 92_000}


def test_all_streams_are_parts_of_one_sequence_at_one_rate() -> None:
    places, times = [], []
    for kind in ("person", "auction", "bid"):
        table, found = made(stream(kind), columns=["dateTime"])
        places.append(found)
        times.append(numbers(table, "dateTime"))
    order = np.argsort(np.concatenate(places))
    assert np.array_equal(np.concatenate(places)[order], np.arange(100_000))
    expected = START + np.arange(100_000) * 100
    assert np.array_equal(np.concatenate(times)[order], expected)


def test_ids_are_counted_and_others_name_those_that_are_there_or_come_next() -> None:
    people, _ = made(stream("person"), columns=["id"])
    auctions, opened = made(stream("auction"), columns=["id", "seller"])
    bids, bid_at = made(stream("bid"), columns=["auction", "bidder"])
    assert numbers(people, "id").tolist() == list(range(FIRST_ID, FIRST_ID + 2_000))
    assert numbers(auctions, "id").tolist() == list(range(FIRST_ID, FIRST_ID + 6_000))
    for table, places, column in ((auctions, opened, "seller"), (bids, bid_at, "bidder")):
        known, named = places // 50, numbers(table, column) - FIRST_ID
        assert (named <= known + LEAD).all()
        assert (named > known - ACTIVE_PEOPLE).all()
        assert (named >= 0).all()
    known, named = np.searchsorted(opened, bid_at) - 1, numbers(bids, "auction") - FIRST_ID
    assert (named <= known + LEAD).all()
    assert (named >= np.maximum(known - IN_FLIGHT, 0)).all()


@pytest.mark.parametrize(
    ("kind", "column", "option", "beside"),
    [
        ("auction", "seller", "hot_sellers", 0),
        ("bid", "auction", "hot_auctions", 0),
        ("bid", "bidder", "hot_bidders", 1),
    ],
)
def test_hot_keys_have_their_share(kind: str, column: str, option: str, beside: int) -> None:
    def share(options: str) -> float:
        table, _ = made(stream(kind, f"rows = 1000000{options}"), columns=[column])
        return float(np.mean((numbers(table, column) - FIRST_ID) % 100 == beside))

    usual = {"hot_sellers": 4, "hot_auctions": 2, "hot_bidders": 4}[option]
    # Of those that are not hot, one in a hundred has such a number too.
    assert share("") == pytest.approx(1 - 1 / usual + 1 / usual / 100, abs=0.01)
    assert share(f", {option} = 1") == pytest.approx(0.01, abs=0.005)
    assert share(f", {option} = 10") == pytest.approx(0.901, abs=0.01)


def test_values_are_those_of_an_auction_site() -> None:
    auctions, _ = made(stream("auction"))
    bids, _ = made(stream("bid"))
    people, _ = made(stream("person"))
    assert pc.value_counts(auctions["category"]).field("counts").to_numpy().min() > 1_000
    assert sorted(set(auctions["category"].to_pylist())) == [10, 11, 12, 13, 14]
    prices = numbers(bids, "price")
    assert prices.min() >= 100
    assert prices.max() <= 100_000_000
    assert np.median(prices) == pytest.approx(100_000, rel=0.05)
    assert (numbers(auctions, "reserve") > numbers(auctions, "initialBid")).all()
    lasts = numbers(auctions, "expires") - numbers(auctions, "dateTime")
    assert lasts.min() >= 1_000
    assert lasts.max() <= 2 * 166_600 + 1_000
    assert lasts.mean() == pytest.approx(166_600, rel=0.05)
    assert set(people["state"].to_pylist()) == {"AZ", "CA", "ID", "OR", "WA", "WY"}
    hot = pc.is_in(bids["channel"], pa.array(["Google", "Facebook", "Baidu", "Apple"]))
    assert pc.mean(hot).as_py() == pytest.approx(0.5, abs=0.01)
    pages = {(row["channel"], row["url"]) for row in bids.select(["channel", "url"]).to_pylist()}
    assert len(pages) == len({channel for channel, _ in pages})
    assert bids.nbytes / len(bids) > 90


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["person", "auction", "bid"]),
    st.sampled_from([0.7, 123.4, 30_000.0]),
    st.sampled_from(["", ", out_of_order = 77", ", shape = 'sine(2 s, 5)', out_of_order = 9"]),
    st.lists(st.integers(0, 5_000), max_size=4),
)
def test_any_split_of_the_blocks_gives_the_same_tuples(
    kind: str, rate: float, options: str, cuts: list[int]
) -> None:
    source = stream(kind, f"rows = 5000{options}", rate)
    whole, places = made(source)
    parts, others = made(source, cuts)
    assert parts.equals(whole)
    assert np.array_equal(others, places)


def test_a_column_is_the_same_whatever_else_is_asked_for() -> None:
    for kind in ("person", "auction", "bid"):
        source = stream(kind, "rows = 2000")
        whole, _ = made(source)
        for field in source.fields:
            alone, _ = made(source, columns=[field.name])
            assert alone.column_names == [field.name]
            assert alone[field.name].equals(whole[field.name])


def test_the_seed_and_nothing_else_changes_the_values() -> None:
    def prices(text: str) -> list[int]:
        table, _ = made(stream("bid", f"rows = 500{text}"), columns=["price"])
        return [int(price) for price in numbers(table, "price")]

    assert prices("") == prices(", seed = 0")
    assert prices(", seed = 1") != prices(", seed = 2")
    slower = made(stream("bid", "rows = 500", 3.0), columns=["price"])[0]
    assert numbers(slower, "price").tolist() == prices("")


@pytest.mark.parametrize("group", [3, 100, 10_000])
def test_out_of_order_each_group_has_its_own_events(group: int) -> None:
    options = f"rows = 30000, out_of_order = {group}"
    kinds = ("person", "auction", "bid")
    parts = [made(stream(kind, options), columns=["dateTime"]) for kind in kinds]
    places = np.concatenate([found for _, found in parts])
    events = np.concatenate([numbers(table, "dateTime") - START for table, _ in parts]) // 100
    assert np.array_equal(np.sort(events), np.arange(30_000))
    assert np.array_equal(events // group, places // group)
    assert (events != places).any()


def test_a_shape_changes_the_rate() -> None:
    table, _ = made(stream("bid", "duration = '8 seconds', shape = 'square(4 s, 9)'", 1_000))
    per_second = np.bincount((numbers(table, "dateTime") - START) // SECOND)
    assert per_second.tolist() == pytest.approx([920, 920, 8280, 8280] * 2, abs=46)


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(["square(3 s, 4)", "sine(5 s, 0.2)", "step(1 s, 7)", "burst(1 s, 2 s, 0.01)"]),
    st.floats(0.5, 1e5),
    st.integers(0, 10**9),
)
def test_times_with_a_shape_agree_with_how_many_come_before(
    shape: str, rate: float, event: int
) -> None:
    times = EventTimes.at(rate, RateShape.parse(shape))
    time = int(times.of(np.array([event]))[0])
    assert times.before(time) <= event
    assert times.before(time + 1) > event


def test_a_stream_ends_with_rows_or_a_duration() -> None:
    assert made(stream("person", "rows = 51"))[0].num_rows == 2
    assert made(stream("bid", "rows = 51"))[0].num_rows == 46
    table, _ = made(stream("auction", "duration = '2.5 seconds'", 100))
    assert table.num_rows == 15
    assert made_of(stream("bid", "seed = 1")).blocks is None


def test_the_rate_of_a_stream_is_its_part_of_all_events() -> None:
    text = "CREATE STREAM {0} WITH (format = 'nexmark', rate = 10000, rows = 5001);"
    script = "".join(text.format(kind) for kind in ("person", "bid"))
    query = parse(script + "SELECT * FROM person [NOW], bid [NOW] WHERE bid.bidder = person.id")
    known = complete(query)
    assert {alias: rate.value for alias, rate in known.rates.items()} == {
        "person": pytest.approx(200),
        "bid": pytest.approx(9_200),
    }
    assert known.cardinalities["person"].value == 101
    assert known.cardinalities["bid"].value == 4_600


def test_impossible_rates_and_shapes_are_refused() -> None:
    with pytest.raises(SourceError, match="events/s"):
        made_of(stream("bid", "rows = 1", 1e9))
    with pytest.raises(SourceError, match="no such shape"):
        made_of(stream("bid", "rows = 1, shape = 'wave(1 s, 2)'"))
