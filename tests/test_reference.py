"""The reference itself, on examples small enough to be worked by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from penstock.duration import MICROS
from penstock.query import (
    Call,
    Condition,
    DataType,
    Equality,
    Field,
    Input,
    Literal,
    Output,
    Query,
    RowsWindow,
    Source,
    TimeWindow,
    Window,
)
from penstock.query.expression import Value
from penstock.query.window import NOW, UNBOUNDED, tumble
from reference import Row, answer
from support.streams.cases import canonical, column_of, random_case, write_case

SECOND = MICROS


def source(name: str, key: DataType = DataType.INT, lateness: int = 0) -> Source:
    fields = (Field("id", DataType.BIGINT), Field("k", key))
    return Source(name, fields, "parquet", timestamp="id", unit="s", lateness=lateness * SECOND)


def stream(
    alias: str, window: Window | None, key: DataType = DataType.INT, lateness: int = 0
) -> Input:
    return Input(alias, source(alias, key, lateness), window)


def join(*inputs: Input, on_key: bool = True, **more: Any) -> Query:
    """The inputs joined on k (or not at all), giving the second of each member."""
    first = column_of(inputs[0])
    return Query(
        inputs=inputs,
        outputs=tuple(Output(i.alias, column_of(i, "id")) for i in inputs),
        equalities=tuple(Equality(first, column_of(i)) for i in inputs[1:]) if on_key else (),
        **more,
    )


def rows(*tuples: tuple[float, Value]) -> list[Row]:
    """Rows of (second, key); `id` is the second, so that results say who joined whom."""
    return [
        Row(int(second * SECOND), number, {"id": second, "k": key})
        for number, (second, key) in enumerate(tuples)
    ]


def ask(query: Query, drain: bool = True, **batches: Any) -> list[tuple[Any, ...]]:
    return sorted(answer(query, batches, drain))


def at(*seconds: float) -> list[list[Row]]:
    """One batch of rows of key 1."""
    return [rows(*((second, 1) for second in seconds))]


def test_the_example_of_golab_and_ozsu_tables_2_and_3() -> None:
    query = join(*(stream(alias, TimeWindow(100 * SECOND)) for alias in ("S1", "S2", "S3")))
    assert ask(query, S1=at(90, 100), S2=at(150, 180), S3=at(195, 205)) == [
        (100, 150, 195),
        (100, 180, 195),
    ]


@pytest.mark.parametrize(
    ("window", "partners"),
    [
        (TimeWindow(10 * SECOND), [10, 15, 20]),
        (TimeWindow(4 * SECOND, slide=7 * SECOND), [10, 15, 20]),
        (TimeWindow(3 * SECOND, slide=10 * SECOND), [20]),
        (RowsWindow(2), [15, 20]),
        (tumble(10 * SECOND), [20]),
        (tumble(15 * SECOND), [15, 20]),
        (NOW, [20]),
        (UNBOUNDED, [3, 9, 10, 15, 20]),
    ],
)
def test_who_is_in_each_window_when_the_last_tuple_comes(
    window: Window, partners: list[int]
) -> None:
    query = join(stream("A", window), stream("B", NOW))
    found = ask(query, A=at(3, 9, 10, 15, 20, 21), B=at(20))
    assert found == [(second, 20) for second in partners]


def test_windows_before_the_epoch_round_down() -> None:
    query = join(stream("A", tumble(10 * SECOND)), stream("B", NOW))
    assert ask(query, A=at(-11, -10, -1), B=at(-1)) == [(-10, -1), (-1, -1)]
    assert ask(query, A=at(-11, -10, -1), B=at(1)) == []


def test_the_earlier_member_needs_to_be_alive_whichever_stream_it_is_of() -> None:
    query = join(stream("A", TimeWindow(5 * SECOND)), stream("B", TimeWindow(1 * SECOND)))
    assert ask(query, A=at(10), B=at(8, 9, 15, 16)) == [(10, 9), (10, 15)]


def test_ties_in_time_are_ordered_by_from() -> None:
    # At equal times A's tuples stand before B's: both of A's are there when B's comes.
    query = join(stream("A", RowsWindow(1)), stream("B", RowsWindow(1)))
    assert ask(query, A=at(5), B=at(5)) == [(5, 5)]
    assert ask(query, A=at(5, 5.5), B=at(5)) == [(5, 5), (5.5, 5)]
    assert ask(join(stream("A", RowsWindow(1)), stream("B", NOW)), A=at(5, 5), B=at(5)) == [(5, 5)]


def test_ties_within_a_stream_are_ordered_by_arrival() -> None:
    query = join(stream("A", RowsWindow(1)), stream("B", NOW), on_key=False)
    a = [rows((5, 7), (5, 8))]
    query = Query(query.inputs, (Output("k", column_of(query.inputs[0])),))
    assert ask(query, A=a, B=at(6)) == [(8,)]


def test_rows_count_the_whole_stream_and_before_the_filter() -> None:
    a = stream("A", RowsWindow(2))
    is_one = Call("eq", (column_of(a), Literal(1, DataType.INT)), DataType.BOOLEAN)
    batches = [rows((1, 1), (2, 1), (3, 2))]
    assert ask(join(a, stream("B", NOW)), A=batches, B=at(4)) == [(2, 4)]
    query = join(a, stream("B", NOW), on_key=False, filters=(Condition(is_one),))
    assert ask(query, A=batches, B=at(4)) == [(2, 4)]


def test_partitioned_rows_count_by_value_and_null_is_a_value() -> None:
    query = join(stream("A", RowsWindow(1, ("k",))), stream("B", NOW), on_key=False)
    batches = [rows((1, 1), (2, 2), (3, None), (4, 1), (5, None))]
    assert ask(query, A=batches, B=at(9)) == [(2, 9), (4, 9), (5, 9)]


def test_partitioned_rows_take_nan_as_one_value() -> None:
    item = stream("A", RowsWindow(1, ("k",)), key=DataType.DOUBLE)
    query = join(item, stream("B", NOW), on_key=False)
    batches = [rows((1, math.nan), (2, float("nan")), (3, 0.0), (4, -0.0))]
    assert ask(query, A=batches, B=at(9)) == [(2, 9), (4, 9)]


def test_null_equals_nothing_and_nan_equals_nan() -> None:
    query = join(
        stream("A", UNBOUNDED, key=DataType.DOUBLE), stream("B", UNBOUNDED, key=DataType.DOUBLE)
    )
    a = [rows((1, None), (2, math.nan), (3, 0.0))]
    b = [rows((4, None), (5, float("nan")), (6, -0.0))]
    assert ask(query, A=a, B=b) == [(2, 5), (3, 6)]


def test_keys_are_compared_in_their_common_type() -> None:
    big = 2**53
    query = join(stream("A", UNBOUNDED, DataType.BIGINT), stream("B", UNBOUNDED, DataType.DOUBLE))
    # As doubles, 2⁵³ and 2⁵³ + 1 are the same.
    found = ask(query, A=[rows((1, big), (2, big + 1), (3, 7))], B=[rows((4, float(big)))])
    assert found == [(1, 4), (2, 4)]


def test_thetas_and_products() -> None:
    a, b = stream("A", UNBOUNDED), stream("B", UNBOUNDED)
    less = Call("lt", (column_of(a), column_of(b)), DataType.BOOLEAN)
    query = join(a, b, on_key=False, thetas=(Condition(less),))
    batches: dict[str, Any] = {"A": [rows((1, 1), (2, 5), (3, None))], "B": [rows((4, 4), (5, 9))]}
    assert ask(query, **batches) == [(1, 4), (1, 5), (2, 5)]
    assert len(ask(join(a, b, on_key=False), **batches)) == 6


def test_a_table_is_always_there_and_never_drives() -> None:
    table = Input("T", Source("T", source("T").fields, "parquet", is_table=True), None)
    query = join(stream("A", NOW), table)
    assert ask(query, A=[rows((50, 1), (60, 2))], T=at(0, 99)) == [(50, 0), (50, 99)]


def test_one_stream_alone_gives_each_tuple_once() -> None:
    assert ask(join(stream("A", RowsWindow(1))), A=at(1, 1, 2)) == [(1,), (1,), (2,)]


def test_a_self_join_is_two_streams() -> None:
    a = stream("A", TimeWindow(SECOND))
    b = Input("B", a.source, TimeWindow(SECOND))
    assert ask(join(a, b), A=at(1, 2), B=at(1, 2)) == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_late_tuples_are_those_below_the_earlier_batches_less_lateness() -> None:
    query = join(stream("A", UNBOUNDED, lateness=3), stream("B", UNBOUNDED))
    # 5 comes after 10 but in its batch; 7 is within lateness of 10, 6 is not.
    a = [*at(10, 5), *at(7, 6)]
    assert ask(query, A=a, B=at(20)) == [(5, 20), (7, 20), (10, 20)]


def test_a_late_tuple_does_not_count_in_a_rows_window() -> None:
    query = join(stream("A", RowsWindow(1)), stream("B", NOW))
    assert ask(query, A=[*at(10), *at(9)], B=at(9.5, 10)) == [(10, 10)]


def test_without_drain_rows_wait_for_the_frontier() -> None:
    query = join(stream("A", RowsWindow(5), lateness=2), stream("B", UNBOUNDED))
    batches: dict[str, Any] = {"A": at(1, 4, 6), "B": at(2, 4, 30)}
    # The frontier is at 6 − 2 = 4, and what lies on it waits.
    assert ask(query, drain=False, **batches) == [(1, 2)]
    assert len(ask(query, **batches)) == 9
    assert ask(query, drain=False, A=at(1), B=[[]]) == []
    timed = join(stream("A", UNBOUNDED), stream("B", UNBOUNDED))
    assert len(ask(timed, drain=False, **batches)) == 9


def test_cases_are_repeatable_and_small() -> None:
    sizes = []
    for seed in range(60):
        case = random_case(seed)
        found = answer(case.query, case.batches)
        assert case == random_case(seed)
        sizes.append(len(found))
    assert max(sizes) <= 5_000
    assert sum(size > 0 for size in sizes) > 30


def test_cases_have_every_window_and_shape() -> None:
    queries = [random_case(seed).query for seed in range(300)]
    kinds = {
        (type(i.window).__name__, getattr(i.window, "slide", 0) > 1, getattr(i.window, "extent", 1))
        for query in queries
        for i in query.inputs
    }
    assert {("NoneType", False, 1), ("RowsWindow", False, 1)} <= kinds
    assert {("TimeWindow", True, 0), ("TimeWindow", False, 0), ("TimeWindow", False, None)} <= kinds
    assert {len(query.inputs) for query in queries} == {1, 2, 3, 4, 5}
    assert any(len(q.sources) < len(q.inputs) for q in queries)


def test_a_case_is_written_one_file_a_batch(tmp_path: Path) -> None:
    case = random_case(3)
    query = write_case(case, tmp_path)
    for item in query.inputs:
        files = sorted((tmp_path / item.source.name).iterdir(), key=lambda p: p.stat().st_mtime_ns)
        assert str(tmp_path / item.source.name) == item.source.path
        read = [pq.read_table(path).to_pylist() for path in files]
        written = [[dict(row.values) for row in batch] for batch in case.batches[item.alias]]
        assert [canonical(r.values() for r in batch) for batch in read] == [
            canonical(tuple(r.values()) for r in batch) for batch in written
        ]


def test_most_joins_of_many_inputs_have_results() -> None:
    cases = [case for case in map(random_case, range(150)) if len(case.query.inputs) > 3]
    assert len(cases) > 25
    assert sum(bool(answer(case.query, case.batches)) for case in cases) > 0.8 * len(cases)
