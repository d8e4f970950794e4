"""Traces: which key tells the groups of a view, and how the changes of each input lead there."""

from __future__ import annotations

import pytest

from penstock.cql import parse
from penstock.query.traces import GROUPS, Link, Trace, trace_of

STREAMS = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k INT, m INT, g INT) "
    f"WITH (format = 'csv', path = '{name}', timestamp = 'ts');\n"
    for name in "ABC"
)
PAIR = "FROM A [ROWS 5], B [{}] WHERE A.k = B.k"
CHAIN = "FROM A [{}], B [{}], C [RANGE 9 SECONDS] WHERE A.k = B.k AND B.m = C.m"


def traced(select: str, rest: str) -> Trace | None:
    return trace_of(parse(f"{STREAMS}SELECT {select}, COUNT(*) AS n {rest} GROUP BY {select}"))


@pytest.mark.parametrize("group", ["A.k", "B.k"])
def test_a_join_key_among_the_groups_tells_them(group: str) -> None:
    trace = traced(group, PAIR.format("RANGE 3 SECONDS"))
    assert trace is not None
    assert (trace.root, trace.pivot, trace.links) == (0, None, ())
    assert trace.told_by == {"A": 0, "B": 0}


def test_other_columns_of_a_rows_window_tell_them_too() -> None:
    trace = traced("A.g", PAIR.format("RANGE 3 SECONDS"))
    assert trace is not None
    assert (trace.root, trace.pivot, trace.links) == (GROUPS, "A", (Link("A", GROUPS, 0),))
    assert trace.told_by == {"A": GROUPS, "B": 0}


def test_rows_windows_lead_from_one_key_to_another() -> None:
    trace = traced("A.k", CHAIN.format("RANGE 3 SECONDS", "ROWS 5"))
    assert trace is not None
    assert (trace.root, trace.links) == (0, (Link("B", 0, 1),))
    assert trace.told_by == {"A": 0, "B": 0, "C": 1}


def test_what_no_rows_window_leads_from_changes_everything() -> None:
    trace = traced("A.k", CHAIN.format("ROWS 5", "RANGE 3 SECONDS"))
    assert trace is not None
    assert (trace.links, set(trace.told_by)) == ((), {"A", "B"})


@pytest.mark.parametrize(
    ("select", "rest"),
    [
        ("B.g", PAIR.format("RANGE 3 SECONDS")),
        ("A.g + 1", PAIR.format("RANGE 3 SECONDS")),
        ("A.k", PAIR.format("RANGE 3 SECONDS").replace("ROWS 5", "RANGE 5 SECONDS")),
    ],
    ids=["of a window of time", "computed", "no ROWS window"],
)
def test_some_views_have_no_trace(select: str, rest: str) -> None:
    assert traced(select, rest) is None


def test_a_total_has_no_trace() -> None:
    query = parse(f"{STREAMS}SELECT COUNT(*) AS n {PAIR.format('ROWS 3')}")
    assert trace_of(query) is None
