"""Views: how they are parsed and typed, and what the reference says they are."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.api import ContinuousQuery
from penstock.cql import parse
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.sinks.sink import jsonl
from penstock.errors import EvaluationError, PlanError
from penstock.lab.clock import RealClock
from penstock.lab.experiment import run_experiment
from penstock.lab.schedule import Eager
from penstock.plan.text.parse import forced_plan
from penstock.query import Input, Query, RowsWindow
from penstock.query.expression import Value
from penstock.stats.guess import complete
from reference import (
    Batches,
    Change,
    Combination,
    Row,
    Rows,
    all_alive,
    combinations,
    death,
    differences,
    evaluations,
    group,
    in_time,
    joined_columns,
    moment,
    place,
    view_at,
    view_changes,
    view_rows,
)
from support.streams.cases import random_view
from support.streams.viewed import ask

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000


def row(second: float, **values: Value) -> Row:
    """A tuple at a second; columns that are not given are NULL, and `ts` is its time."""
    moment = EPOCH + timedelta(seconds=second)
    empty = dict.fromkeys(("k", "x", "y", "s", "f", "d", "b", "z", "name"))
    return Row(round(second * SECOND), round(second * SECOND), {"ts": moment, **empty, **values})


def changes(query: Query, drain: bool = True, **rows: Any) -> list[tuple[object, ...]]:
    """What the view of a query does, as (seconds, + or -, values…); each input is one batch."""
    found = view_changes(query, {alias: [given] for alias, given in rows.items()}, drain)
    return [_short(change) for change in found]


def _short(change: Change) -> tuple[object, ...]:
    sign = {"upsert": "+", "delete": "-"}[change.kind]
    return (change.time / SECOND, sign, *change.values)


# ── the papers' examples ──────────────────────────────────────────────────────────────────────────

PACKETS = "(id BIGINT, source STRING, destination STRING, length INT, time TIMESTAMP)"
EXAMPLE_1 = f"""
SELECT c.source, COUNT(*)
FROM ClinkPacket AS c [WINDOW 1 HOUR],

BlinkPacket AS b [WINDOW 1 HOUR]
WHERE c.source = b.source

AND c.destination = b.destination
AND c.id = b.id

GROUP BY c.source;
CREATE STREAM ClinkPacket {PACKETS} WITH (format = 'csv', path = 'c', timestamp = 'time');
CREATE STREAM BlinkPacket {PACKETS} WITH (format = 'csv', path = 'b', timestamp = 'time');
"""
EXAMPLE_2 = """
SELECT a.auctionID, COUNT(b.*)
FROM Bid AS b [WINDOW 1 HOUR],

Auction AS a [WINDOW UNTIL NOW],
Person AS p

WHERE a.auctionID = b.auctionID
AND a.seller = p.personID
AND p.state= “VT”

GROUP BY a.auctionID;
CREATE STREAM Bid (timestamp TIMESTAMP, auctionID BIGINT, bidderID BIGINT, bidPrice DOUBLE)
WITH (format = 'csv', path = 'bids', timestamp = 'timestamp');
CREATE STREAM Auction (timestamp TIMESTAMP, auctionID BIGINT, seller BIGINT, startPrice DOUBLE)
WITH (format = 'csv', path = 'auctions', timestamp = 'timestamp');
CREATE TABLE Person (personID BIGINT, name STRING, state STRING)
WITH (format = 'csv', path = 'people');
"""


def packet(second: int, number: int, sender: str) -> Row:
    values: dict[str, Value] = {
        "id": number,
        "source": sender,
        "destination": "z",
        "length": 1,
        "time": None,
    }
    return Row(second * SECOND, number, values)


def test_example_1_counts_packets_of_the_last_hour_by_source() -> None:
    # Packet 1 of u leaves the backbone's window an hour after it was seen there, at 10 s; packets
    # 2 and 3 an hour after their first sighting. A window holds its lower end.
    found = changes(
        parse(EXAMPLE_1),
        c=[packet(20, 1, "u"), packet(30, 2, "u"), packet(40, 3, "v"), packet(50, 4, "v")],
        b=[packet(10, 1, "u"), packet(35, 2, "u"), packet(60, 3, "v")],
    )
    just_after = 3600 + 1e-6
    assert found == [
        (20, "+", "u", 1),
        (35, "+", "u", 2),
        (60, "+", "v", 1),
        (10 + just_after, "+", "u", 1),
        (30 + just_after, "-", "u", 1),
        (40 + just_after, "-", "v", 1),
    ]


def test_example_2_counts_bids_of_the_last_hour_for_auctions_of_vermont() -> None:
    def bid(second: int, auction: int) -> Row:
        values = {"timestamp": None, "auctionID": auction, "bidderID": 0, "bidPrice": 1.0}
        return Row(second * SECOND, second, values)

    def auction(second: int, number: int, seller: int) -> Row:
        values = {"timestamp": None, "auctionID": number, "seller": seller, "startPrice": 1.0}
        return Row(second * SECOND, second, values)

    people = [
        Row(0, 0, {"personID": 7, "name": "Ann", "state": "VT"}),
        Row(0, 1, {"personID": 8, "name": "Bob", "state": "NY"}),
    ]
    query = parse(EXAMPLE_2)
    assert [o.name for o in query.results] == ["auctionID", "col2"]
    found = changes(
        query,
        b=[bid(5, 1), bid(10, 1), bid(11, 2), bid(4000, 1)],
        a=[auction(1, 1, 7), auction(2, 2, 8), auction(7, 3, 7)],
        p=people,
    )
    assert found == [
        (5, "+", 1, 1),
        (10, "+", 1, 2),
        (3605 + 1e-6, "+", 1, 1),
        (3610 + 1e-6, "-", 1, 1),
        (4000, "+", 1, 1),
        (7600 + 1e-6, "-", 1, 1),
    ]


# ── the meaning ───────────────────────────────────────────────────────────────────────────────────


def test_an_eager_view_changes_with_arrivals_and_expiries() -> None:
    query = ask("SELECT k, COUNT(*), SUM(x) FROM A [RANGE 10 SECONDS] GROUP BY k")
    rows = [row(1, k=1, x=5), row(1, k=2, x=None), row(4, k=1, x=-2)]
    assert changes(query, A=rows) == [
        (1, "+", 1, 1, 5),
        (1, "+", 2, 1, None),
        (4, "+", 1, 2, 3),
        (11.000001, "+", 1, 1, -2),
        (11.000001, "-", 2, 1, None),
        (14.000001, "-", 1, 1, -2),
    ]


def test_a_lazy_view_is_evaluated_at_multiples_of_its_period() -> None:
    query = ask("SELECT k, COUNT(*) FROM A [RANGE 10 SECONDS] GROUP BY k EVERY 5 SECONDS")
    rows = [row(1, k=1), row(5, k=1), row(6, k=1), row(7, k=2)]
    # At 15 the tuple of 5 is still in; at 20 all are out.
    assert changes(query, A=rows) == [
        (5, "+", 1, 2),
        (10, "+", 1, 3),
        (10, "+", 2, 1),
        (15, "+", 1, 2),
        (20, "-", 1, 2),
        (20, "-", 2, 1),
    ]


def test_what_comes_and_goes_between_two_evaluations_is_not_seen() -> None:
    query = ask("SELECT k FROM A [RANGE 1 SECOND] GROUP BY k EVERY 10 SECONDS")
    assert changes(query, A=[row(3, k=1), row(9.5, k=2)]) == [(10, "+", 2), (20, "-", 2)]


def test_tumbling_windows_report_the_closed_block_at_its_end() -> None:
    query = ask("SELECT k, COUNT(*) FROM A [TUMBLE 10 SECONDS] GROUP BY k")
    rows = [row(0, k=1), row(9.999999, k=1), row(10, k=1), row(12, k=2), row(25, k=1)]
    assert changes(query, A=rows) == [
        (10, "+", 1, 2),
        (20, "+", 1, 1),
        (20, "+", 2, 1),
        # The block of 25 has the same row for 1 as the one before it.
        (30, "-", 2, 1),
        (40, "-", 1, 1),
    ]


def test_a_block_may_be_watched_as_it_fills() -> None:
    query = ask("SELECT COUNT(*) FROM A [TUMBLE 10 SECONDS] EVERY 5 SECONDS")
    rows = [row(1), row(5), row(12)]
    assert changes(query, A=rows) == [(5, "+", 1), (10, "+", 2), (15, "+", 1), (25, "+", 0)]


def test_joined_blocks_hold_what_the_join_gives() -> None:
    query = ask(
        "SELECT COUNT(*) AS n FROM A [TUMBLE 10 SECONDS], B [TUMBLE 20 SECONDS] WHERE A.k = B.k"
    )
    # At 10 all of A's first block meets B's half block; at 20 A's second block meets B's whole one.
    found = changes(
        query, A=[row(1, k=1), row(12, k=1), row(21, k=1)], B=[row(2, k=1), row(19, k=1)]
    )
    assert found == [(10, "+", 1), (20, "+", 2), (30, "+", 0)]


def test_a_block_beside_another_window_sees_it_as_it_is_just_before_the_end() -> None:
    query = ask("SELECT COUNT(*) AS n FROM A [TUMBLE 10 SECONDS], B [RANGE 5 SECONDS]")
    # Of B only 4.999999 < 5 is too old just before 10, and 10 has not come yet.
    b = [row(4.999998), row(4.999999), row(9), row(10)]
    assert changes(query, A=[row(1)], B=b)[0] == (10, "+", 2)


def test_sliding_steps_move_the_lower_bound_only() -> None:
    query = ask("SELECT COUNT(*) FROM A [RANGE 5 SECONDS SLIDE 10 SECONDS]")
    assert changes(query, A=[row(3), row(6), row(12)]) == [
        (3, "+", 1),
        (6, "+", 2),
        (10, "+", 1),
        (12, "+", 2),
        (20, "+", 0),
    ]


def test_rows_windows_change_with_arrivals_only_and_count_before_filters() -> None:
    query = ask("SELECT SUM(x) AS s FROM A [ROWS 2] WHERE x > 1")
    rows = [row(1, x=1), row(2, x=2), row(3, x=3), row(4, x=0), row(4, x=0)]
    rows = [Row(r.ts, n, r.values) for n, r in enumerate(rows)]
    assert changes(query, A=rows) == [(1, "+", None), (2, "+", 2), (3, "+", 5), (4, "+", None)]


def test_partitioned_rows() -> None:
    query = ask("SELECT k, SUM(x) FROM A [PARTITION BY k ROWS 1] GROUP BY k")
    rows = [row(1, k=1, x=1), row(2, k=2, x=2), row(3, k=1, x=3)]
    assert changes(query, A=rows) == [(1, "+", 1, 1), (2, "+", 2, 2), (3, "+", 1, 3)]


def test_an_unbounded_view_stays_after_the_end() -> None:
    query = ask("SELECT COUNT(*) FROM A [UNBOUNDED] EVERY 10 SECONDS")
    assert changes(query, A=[row(1), row(2), row(31)]) == [(10, "+", 2), (40, "+", 3)]


def test_now_holds_a_moment() -> None:
    query = ask("SELECT k FROM A [NOW] GROUP BY k")
    assert changes(query, A=[row(1, k=1)]) == [(1, "+", 1), (1.000001, "-", 1)]


def test_totals_keep_their_one_row_from_the_first_tuple_on() -> None:
    query = ask(
        """SELECT COUNT(*), COUNT(x), SUM(x), AVG(x), MIN(x), MAX(s) FROM A [RANGE 1 SECOND], T
        WHERE A.k = T.k"""
    )
    rows = [row(1, k=9), row(3, k=1, x=2, s="b"), row(3.5, k=1, x=None, s="a")]
    assert changes(query, A=rows, T=[row(0, k=1)]) == [
        (1, "+", 0, 0, None, None, None, None),
        (3, "+", 1, 1, 2, 2.0, 2, "b"),
        (3.5, "+", 2, 1, 2, 2.0, 2, "b"),
        (4.000001, "+", 1, 0, None, None, None, "a"),
        (4.500001, "+", 0, 0, None, None, None, None),
    ]
    assert changes(query, A=[], T=[row(0, k=1)]) == []


def test_having_lets_groups_appear_and_vanish() -> None:
    query = ask("SELECT k, COUNT(*) FROM A [RANGE 10 SECONDS] GROUP BY k HAVING COUNT(*) > 1")
    assert changes(query, A=[row(1, k=1), row(2, k=1), row(3, k=1)]) == [
        (2, "+", 1, 2),
        (3, "+", 1, 3),
        (11.000001, "+", 1, 2),
        (12.000001, "-", 1, 2),
    ]
    totals = ask("SELECT COUNT(*) AS n FROM A [RANGE 10 SECONDS] HAVING n = 1")
    assert changes(totals, A=[row(1), row(2)]) == [
        (1, "+", 1),
        (2, "-", 1),
        (11.000001, "+", 1),
        (12.000001, "-", 1),
    ]


def test_null_and_nan_are_one_group_each() -> None:
    query = ask("SELECT y, COUNT(*), MAX(y) FROM A [UNBOUNDED] GROUP BY y EVERY 10 SECONDS")
    values = [None, math.nan, None, float("nan"), 0.0, -0.0]
    found = view_at(query, {"A": [row(1, y=value) for value in values]}, 10 * SECOND)
    assert [r[1] for r in found.values()] == [2, 2, 2]
    assert [r[2] for r in found.values()][::2] == [None, 0.0]
    again = [row(n, y=math.nan) for n in (1, 15)]
    assert len(changes(ask("SELECT MAX(y) FROM A [UNBOUNDED]"), A=again)) == 1


def test_nan_is_above_every_number_in_min_and_max() -> None:
    query = ask("SELECT MIN(y), MAX(y) FROM A [UNBOUNDED] EVERY 10 SECONDS")
    ((_, _, low, high),) = changes(query, A=[row(1, y=math.nan), row(2, y=3.0), row(3, y=9.0)])
    assert low == 3.0
    assert isinstance(high, float)
    assert math.isnan(high)


def test_sums_of_integers_are_exact_and_overflow_is_an_error() -> None:
    query = ask("SELECT SUM(z), AVG(z) FROM B [UNBOUNDED] EVERY 1 HOUR")
    big = 2**62
    assert changes(query, B=[row(1, z=big), row(2, z=-big), row(3, z=1)])[0][2:] == (1, 1 / 3)
    with pytest.raises(EvaluationError, match="overflow in SUM"):
        changes(query, B=[row(1, z=big), row(2, z=big)])


def test_variances_are_those_of_the_books() -> None:
    query = ask(
        """SELECT VAR_SAMP(x), VAR_POP(x), STDDEV(x), STDDEV_POP(x), VARIANCE(y) FROM A [UNBOUNDED]
        EVERY 10 SECONDS"""
    )
    numbers = (2, 4, 4, 4, 5, 5, 7, 9)
    rows = [row(n, x=x, y=math.inf if n > 1 else 1.0) for n, x in enumerate(numbers, 1)]
    ((_, _, *found, odd),) = changes(query, A=rows)
    assert found == [32 / 7, 4.0, math.sqrt(32 / 7), 2.0]
    assert isinstance(odd, float)
    assert math.isnan(odd)
    assert changes(query, A=[row(1, x=3)]) == [(10, "+", None, 0.0, None, 0.0, None)]


def test_the_first_and_last_are_by_event_time_and_then_by_value() -> None:
    query = ask(
        "SELECT FIRST(x), LAST(x), MAX_BY(s, y), MIN_BY(x, y) FROM A [UNBOUNDED] EVERY 1 HOUR"
    )
    rows = [
        row(3, x=7, s="c", y=1.0),
        row(1, x=None, s="z", y=None),
        row(2, x=5, s="b", y=2.0),
        row(2, x=6, s=None, y=2.0),
        row(9, x=4, s="a", y=1.0),
        row(9, x=3, s="d", y=1.5),
        row(9, x=None, s="e", y=0.5),
    ]
    assert changes(query, A=rows) == [(3600, "+", 6, 4, "b", None)]


def test_a_theta_join_of_three_is_counted_by_combination() -> None:
    query = ask(
        """SELECT A.k, COUNT(*), SUM(x * z) FROM A [RANGE 1 MINUTE], B [RANGE 1 MINUTE], T
        WHERE A.k = T.k AND A.x < B.z GROUP BY A.k EVERY 1 MINUTE"""
    )
    a = [row(1, k=1, x=1), row(2, k=1, x=5)]
    b = [row(3, z=2), row(4, z=6)]
    # 1·2 + 1·6 + 5·6, twice, because T has the key twice.
    assert changes(query, A=a, B=b, T=[row(0, k=1), row(0, k=1)])[0] == (60, "+", 1, 6, 76)


def test_without_drain_an_evaluation_waits_for_the_frontier() -> None:
    query = ask("SELECT COUNT(*) FROM A [UNBOUNDED], B [UNBOUNDED] EVERY 5 SECONDS")
    rows: dict[str, Any] = {"A": [row(1), row(10), row(30)], "B": [row(2), row(12)]}
    # The frontier is at 12 − 2 = 10, where a tuple of B may still come.
    assert changes(query, drain=False, **rows) == [(5, "+", 1)]
    assert changes(query, **rows)[-1] == (30, "+", 6)
    blocks = ask("SELECT COUNT(*) FROM A [TUMBLE 5 SECONDS], B [UNBOUNDED]")
    # The block that ends at 10 has nothing of 10, and is closed.
    assert changes(blocks, drain=False, **rows) == [(5, "+", 1), (10, "+", 0)]


def test_late_tuples_are_in_no_window() -> None:
    query = ask("SELECT COUNT(*) FROM B [UNBOUNDED] EVERY 10 SECONDS")
    batches = {"B": [[row(9)], [row(7), row(6)]]}
    assert [_short(change) for change in view_changes(query, batches)] == [(10, "+", 2)]


# ── on random streams ─────────────────────────────────────────────────────────────────────────────


def life(query: Query, windows: dict[str, list[Row]], found: Combination) -> tuple[int, float]:
    """When a result of the join comes, and when the first of its members dies."""
    members = [(item, found[item.alias]) for item in query.streams]
    ends = [end_of(query, item, windows[item.alias], member) for item, member in members]
    return max(member.ts for _, member in members), min(ends)


def end_of(query: Query, item: Input, rows: list[Row], member: Row) -> float:
    """When a tuple dies: by time, or with the tuple that pushes it out of a ROWS window."""
    if not isinstance(item.window, RowsWindow):
        end = death(item.window, member.ts)
        return math.inf if end is None else end
    newer = sorted(
        place(query, item.alias, other)
        for other in rows
        if place(query, item.alias, other) > place(query, item.alias, member)
        and group(item.window, other) == group(item.window, member)
    )
    return newer[item.window.count - 1][0] if len(newer) >= item.window.count else math.inf


def from_results(query: Query, batches: Batches) -> list[Change]:
    """The changes of a view, from the results of its join and how long they live."""
    windows = {item.alias: in_time(item, batches[item.alias]) for item in query.inputs}
    lives = [
        (*life(query, windows, found), joined_columns(query, found))
        for found in combinations(query, windows)
        if all_alive(query, windows, found)
    ]
    assert query.view is not None
    shown: Rows = {}
    changes: list[Change] = []
    for time in evaluations(query, windows):
        now = moment(query, time)
        living = [joined for begin, end, joined in lives if begin <= now < end]
        rows = view_rows(query.view, living)
        changes += differences(time, shown, rows)
        shown = rows
    return changes


def in_order(changes: list[Change]) -> list[tuple[object, ...]]:
    return sorted(
        (c.time, c.kind, repr([v + 0.0 if isinstance(v, float) else v for v in c.values]))
        for c in changes
    )


@pytest.mark.parametrize("seed", range(60))
def test_a_view_aggregates_the_results_of_the_join_while_all_their_members_live(seed: int) -> None:
    case = random_view(seed)
    expected = view_changes(case.query, case.batches)
    assert in_order(from_results(case.query, case.batches)) == in_order(expected)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_told_before_the_end_of_the_input_holds_whatever_comes(seed: int) -> None:
    case = random_view(seed)
    expected = view_changes(case.query, case.batches)
    batches = max(len(given) for given in case.batches.values())
    for count in range(1, batches + 1):
        so_far = {alias: given[:count] for alias, given in case.batches.items()}
        told = view_changes(case.query, so_far, drain=False)
        last = max((change.time for change in told), default=-math.inf)
        assert in_order(told) == in_order([c for c in expected if c.time <= last])


def test_random_views_have_every_function_and_change() -> None:
    cases = [random_view(seed) for seed in range(60)]
    views = [case.query.view for case in cases if case.query.view is not None]
    assert {a.function for view in views for a in view.aggregates} == {
        *("count", "sum", "avg", "min", "max")
    }
    assert {len(view.groups) for view in views} == {0, 1, 2}
    changed = [view_changes(case.query, case.batches) for case in cases]
    assert sum(bool(changes) for changes in changed) > 30
    assert {change.kind for changes in changed for change in changes} == {"upsert", "delete"}


# ── what is not there yet ─────────────────────────────────────────────────────────────────────────


def test_a_view_is_explained_in_the_words_of_the_query() -> None:
    query = ask(
        """SELECT A.k + 1 AS k1, SUM(z) / COUNT(*) AS mean FROM A [NOW], B [NOW] WHERE A.k = B.k
        GROUP BY A.k HAVING SUM(z) > 2 EVERY 10 SECONDS"""
    )
    text = ContinuousQuery(query, complete(query)).explain()
    said = "view    SUM(B.z), COUNT(*) by A.k, having SUM(B.z) > 2, every 10 SECONDS\n"
    assert said + "output  k1, mean\n" in text
    html = ContinuousQuery(query, complete(query)).explain("html")
    assert "CAST(SUM(B.z) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE)" in html
    total = ask("SELECT COUNT(*) FROM A [RANGE 1 MINUTE]")
    text = ContinuousQuery(total, complete(total)).explain()
    assert "view    COUNT(*) in total, whenever a window changes\n" in text


def test_the_laboratory_refuses_views(tmp_path: Path) -> None:
    query = ask("SELECT COUNT(*) FROM A [RANGE 1 MINUTE]")
    asked = ContinuousQuery(query, complete(query))
    with pytest.raises(PlanError, match="do not run in the laboratory"):
        run_experiment(asked.plan, jsonl(tmp_path / "out"), Eager(), clock=RealClock())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("plan", ["(A B)/nested", "A: B/nested; B: A", "A: B A; B: A"])
def test_no_view_is_sent_to_the_laboratory(plan: str) -> None:
    query = ask("SELECT COUNT(*) AS n FROM A [NOW], B [NOW] WHERE A.k = B.k")
    with pytest.raises(PlanError) as caught:
        routing_of(forced_plan(query, plan), Layout(query))
    assert "laboratory" not in str(caught.value.hint)
