"""The reason why nothing comes out, from how far the streams are."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.engine.state.manifest import Manifest, StreamState
from penstock.engine.state.no_results import why_no_results
from support.streams.two_streams import JOIN, SECOND, VIEW, query

ROWS = "SELECT a.k FROM a [ROWS 3], b [RANGE 10 SECONDS] WHERE a.k = b.k"


def sent(lowest: float, highest: float, rows: int = 10, late: int = 0) -> StreamState:
    """A stream that has sent tuples between two times, seconds."""
    return StreamState(int(highest * SECOND), int(lowest * SECOND), rows=rows, late=late)


def reason(select: str, a: StreamState, b: StreamState | None = None, **more: Any) -> str | None:
    streams = {"a": a} if b is None else {"a": a, "b": b}
    found = why_no_results(query(select), Manifest(batch=3, streams=streams, **more))
    return None if found is None else found.reason


NONE = StreamState()


@pytest.mark.parametrize(
    ("select", "a", "b", "wanted"),
    [
        (VIEW, sent(0, 9), None, "view waits for b: no tuple yet"),
        (ROWS, sent(0, 9), NONE, "ROWS windows wait for b: no tuple yet"),
        (JOIN, sent(0, 9), NONE, "joins nothing: no tuple of b yet"),
        (VIEW, sent(0, 9), StreamState(passed=5), "joins nothing: no tuple of b yet"),
        ("SELECT k FROM a [NOW] WHERE k > 1", NONE, None, "no tuple of a yet"),
        (JOIN, sent(0, 9), sent(0, 9, 7, 7), "all of b came too late (7 of 7)"),
        (JOIN, StreamState(malformed=3), sent(0, 9), "all rows of a are malformed (3)"),
        (JOIN, StreamState(unreadable=2), sent(0, 9), "no file of a can be read (of 2)"),
        (JOIN, sent(345_609, 345_700), sent(0, 9), "joins nothing: a is 4 days ahead of b"),
        (JOIN, sent(0, 9), sent(5_409, 9_999), "joins nothing: b is 1.5 hours ahead of a"),
        (JOIN, sent(0, 9), sent(20, 29), "joins nothing: b is 11 seconds ahead of a"),
        (VIEW, sent(0, 9), sent(86_409, 86_500), "joins nothing: b is 1 day ahead of a"),
        (JOIN, sent(0, 9), sent(19, 29), "no match yet for a.k = b.k"),
        (VIEW, sent(0, 3_700), sent(0, 100), "no match yet for a.k = b.k"),
        (VIEW, sent(1, 3_700), sent(1, 30), "view waits for b: 1 hour behind a"),
        (
            VIEW,
            sent(1, 30),
            sent(1, 20),
            "view waits for b to pass 1970-01-01 00:01:00; it is at 1970-01-01 00:00:20",
        ),
        (ROWS, sent(0, 2_405), sent(5, 5), "ROWS windows wait for b: 40 minutes behind a"),
        (
            ROWS,
            sent(5, 5),
            sent(5, 5),
            "ROWS windows wait for a tuple of a after 1970-01-01 00:00:05",
        ),
        (ROWS, sent(0, 9), sent(0, 9), "no match yet for a.k = b.k"),
        (JOIN.replace("WHERE a.k = b.k", ""), sent(0, 9), sent(0, 9), None),
    ],
)
def test_the_reason_follows_from_how_far_the_streams_are(
    select: str, a: StreamState, b: StreamState | None, wanted: str | None
) -> None:
    assert reason(select, a, b) == wanted


def test_shed_and_filtered_tuples() -> None:
    both = sent(0, 9, 12_000), sent(0, 9)
    said = reason(JOIN, *both, total_shed={"a": 12_000})
    assert said == "all of a is shed (12,000 tuples)"
    assert reason(JOIN, *both, total_shed={"a": 11_999}) == "no match yet for a.k = b.k"
    filtered = f"{JOIN} AND a.k > 5"
    said = reason(filtered, *both, screened={"a": (12_000, 0)})
    assert said == "filter on a lets nothing pass (0 of 12,000)"
    assert reason(filtered, *both, screened={"a": (12_000, 1)}) == "no match yet for a.k = b.k"


def test_an_empty_table() -> None:
    joined = "SELECT a.k FROM a [NOW], t WHERE a.k = t.k"
    assert reason(joined, sent(0, 9)) == "joins nothing: table t is empty"


def test_a_drained_query_waits_for_nothing() -> None:
    assert reason(VIEW, sent(0, 9), NONE, is_closed=True) == "joins nothing: no tuple of b"
    assert reason(VIEW, sent(0, 9), sent(0, 9), is_closed=True) == "no match for a.k = b.k"


def test_after_results_only_the_frontier_is_waited_for() -> None:
    far = sent(0, 7_200), sent(0, 30)
    assert reason(VIEW, *far, results=5) == "view waits for b: 2 hours behind a"
    assert reason(JOIN, *far, results=5) is None


def test_what_may_be_done_is_said() -> None:
    found = why_no_results(query(VIEW), Manifest(batch=0, streams={"a": sent(0, 9)}))
    assert found is not None
    assert found.hint is not None
    assert "--drain" in found.hint
    assert "idle='1 minute' in WITH of b" in found.hint


def test_who_finds_combinations_for_others_has_no_results_of_its_own() -> None:
    streams = {"a": sent(0, 9), "b": sent(0, 9)}
    alone, taken = Manifest(batch=3, streams=streams), Manifest(3, streams=streams, takers=("one",))
    assert why_no_results(query(JOIN), alone) is not None
    assert why_no_results(query(JOIN), taken) is None
