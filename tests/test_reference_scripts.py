"""The reference of scripts, on examples small enough to be worked by hand."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.cql import parse_script
from penstock.duration import MICROS
from penstock.kernels.hashing import combine, hash_column
from penstock.query import DataType, Field
from penstock.query.expression import Value
from penstock.query.types import decimal
from reference import Row
from reference_scripts import Made, answer_script, arrival_number
from support.streams.scripts import random_script

DECLARATIONS = """;
CREATE STREAM A (ts TIMESTAMP, k INT, x INT) WITH (format = 'csv', path = 'a', timestamp = 'ts');
CREATE STREAM B (ts TIMESTAMP, k INT, x INT) WITH (format = 'csv', path = 'b', timestamp = 'ts');
"""


def brought(**streams: list[tuple[float, int, int]]) -> dict[str, list[list[Row]]]:
    """One batch of rows of (second, k, x) for each stream."""
    return {
        name: [
            [
                Row(int(second * MICROS), n, {"ts": None, "k": k, "x": x})
                for n, (second, k, x) in enumerate(streams.get(name, []))
            ]
        ]
        for name in ("A", "B")
    }


def made(text: str, drain: bool = True, **streams: Any) -> dict[str, Made]:
    return answer_script(parse_script(text + DECLARATIONS), brought(**streams), drain)


def told(result: Made) -> list[tuple[Any, ...]]:
    """Results as (second, change, values…), sorted."""
    rows = [(each.time / MICROS, each.change, *each.values) for each in result.results]
    return sorted(rows, key=str)


def test_a_result_comes_at_the_time_of_its_last_tuple() -> None:
    found = made(
        """CREATE STREAM both AS SELECT A.x AS a, B.x AS b
           FROM A [RANGE 5 SECONDS], B [RANGE 5 SECONDS] WHERE A.k = B.k;
           SELECT a, b, _time FROM both [NOW]""",
        A=[(1, 7, 10), (9, 7, 11)],
        B=[(3, 7, 20)],
    )
    time = datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC)
    assert told(found["result"]) == [(3.0, None, 10, 20, time)]


BY_KEY = """CREATE VIEW v AS SELECT k, COUNT(*) AS n FROM A [RANGE 4 SECONDS] GROUP BY k;"""


def test_a_view_without_a_window_is_met_as_it_is_at_the_time_of_the_tuple() -> None:
    found = made(
        BY_KEY + "SELECT B.x, v.n FROM v, B [UNBOUNDED] WHERE B.k = v.k",
        A=[(1, 7, 0), (2, 7, 0), (3, 8, 0)],
        # At 2 the change of 2 is seen already; at 20 the row of 7 is gone.
        B=[(1, 7, 1), (2, 7, 2), (5.5, 7, 3), (20, 7, 4), (0.5, 7, 5)],
    )
    assert told(found["result"]) == [
        (1.0, None, 1, 1),
        (2.0, None, 2, 2),
        (5.5, None, 3, 1),
    ]


def test_a_window_over_a_view_holds_its_upserts() -> None:
    found = made(
        BY_KEY + "SELECT COUNT(*) AS changes FROM v [ROWS 2] INTO counted; "
        "SELECT n, _change FROM v [NOW] INTO changes",
        A=[(1, 7, 0), (2, 7, 0)],
    )
    # 1, then 2, then 1 again when the first is gone; that nothing is left is no tuple.
    assert [row[0] for row in told(found["changes"])] == [1.0, 2.0, 5.000001]
    assert {row[3] for row in told(found["changes"])} == {"upsert"}
    assert told(found["counted"]) == [(1.0, "upsert", 1), (2.0, "upsert", 2)]


def test_a_view_over_a_view_sees_the_rows_that_are_there() -> None:
    found = made(
        BY_KEY + "SELECT MAX(n) AS most, COUNT(*) AS groups FROM v EVERY 3 SECONDS",
        A=[(1, 7, 0), (2, 7, 0), (3, 8, 0)],
    )
    assert told(found["result"]) == [
        (3.0, "upsert", 2, 2),
        (6.0, "upsert", 1, 2),
        (9.0, "upsert", None, 0),
    ]


def test_a_select_in_an_expression_has_the_value_of_the_time() -> None:
    found = made(
        "SELECT x FROM A [NOW] WHERE x > (SELECT AVG(x) FROM B [UNBOUNDED])",
        A=[(0, 1, 9), (1, 1, 3), (2, 1, 3), (3, 1, 9)],
        B=[(1, 1, 2), (2, 1, 6)],
    )
    # Before the first tuple of B there is nothing to compare with.
    assert told(found["result"]) == [(1.0, None, 3), (3.0, None, 9)]


def test_a_union_is_all_results_of_its_branches() -> None:
    found = made(
        "SELECT k, x FROM A [NOW] UNION ALL SELECT k, x + 0.5 FROM B [NOW] WHERE x > 1",
        A=[(1, 7, 1), (2, 7, 1)],
        B=[(1, 7, 1), (2, 7, 2)],
    )
    assert told(found["result"]) == [(1.0, None, 7, 1.0), (2.0, None, 7, 1.0), (2.0, None, 7, 2.5)]


def test_what_waits_for_the_frontier_waits_in_all_that_read_it() -> None:
    text = BY_KEY + "SELECT COUNT(*) AS n FROM v [RANGE 1 MINUTE] EVERY 2 SECONDS"
    open_ = made(text, drain=False, A=[(1, 7, 0), (2, 7, 0), (7, 7, 0)])
    assert open_["v"].frontier == 7 * MICROS
    assert max(each.time for each in open_["v"].results) < 7 * MICROS
    # The evaluation at 6 is below 7, the one at 8 is not.
    assert open_["result"].frontier == 8 * MICROS
    assert max(each.time for each in open_["result"].results) == 6 * MICROS


ODD: list[tuple[DataType, pa.DataType, list[Value]]] = [
    (DataType.INT, pa.int32(), [0, 1, -1, 2**31 - 1, -(2**31)]),
    (DataType.BIGINT, pa.int64(), [0, -1, 2**63 - 1, -(2**63)]),
    (DataType.BOOLEAN, pa.bool_(), [True, False]),
    (DataType.FLOAT, pa.float32(), [0.5, -0.0, math.nan, math.inf]),
    (DataType.DOUBLE, pa.float64(), [0.1, 0.0, -0.0, math.nan, -math.inf, 5e-324]),
    (DataType.STRING, pa.large_string(), ["", "a", "é", "12345678", "123456789", "x" * 33]),
    (DataType.BINARY, pa.large_binary(), [b"", b"\x00", b"\xff" * 8]),
    (DataType.DATE, pa.date32(), [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)]),
    (
        DataType.TIMESTAMP,
        pa.timestamp("us", tz="UTC"),
        [datetime(1, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 0, 7, tzinfo=UTC)],
    ),
    (DataType.TIMESTAMP_NTZ, pa.timestamp("us"), [datetime(1969, 12, 31, 23, 59, 59)]),
    (decimal(9, 2), pa.decimal128(9, 2), [Decimal("1.50"), Decimal("-0.01")]),
    (decimal(30, 3), pa.decimal128(30, 3), [Decimal("-1.500"), Decimal(10**20)]),
]


@pytest.mark.parametrize(("type_", "arrow", "values"), ODD, ids=lambda each: str(each)[:20])
def test_the_hash_of_a_result_is_that_of_the_kernels(
    type_: DataType, arrow: pa.DataType, values: list[Value]
) -> None:
    fields = (Field("a", type_), Field("b", DataType.BIGINT))
    numbers = list(range(len(values)))
    columns = [hash_column(pa.array(values, arrow)), hash_column(pa.array(numbers, pa.int64()))]
    expected = combine(columns) & (2**63 - 1)
    found = [arrival_number(fields, {"a": v, "b": n}) for v, n in zip(values, numbers, strict=True)]
    assert found == expected.tolist()


def test_null_is_hashed_apart_from_what_is_there() -> None:
    fields = (Field("a", DataType.BIGINT), Field("b", DataType.STRING))
    rows: list[dict[str, Value]] = [{"a": a, "b": b} for a in (None, 0) for b in (None, "", "NULL")]
    assert len({arrival_number(fields, row) for row in rows}) == len(rows)


def test_scripts_are_repeatable_and_have_results_of_every_kind() -> None:
    cases = [random_script(seed) for seed in range(40)]
    assert cases == [random_script(seed) for seed in range(40)]
    inputs = [i for c in cases for m in c.script.members for i in m.query.inputs]
    assert any(i.is_relation for i in inputs)
    assert any(i.source.key is not None and not i.is_relation for i in inputs)
    assert any(i.source.format == "derived" and i.source.key is None for i in inputs)
    assert any(len(i.source.makers) > 1 for i in inputs)
    assert {len(c.script.shown) for c in cases} >= {1, 2, 3}
    last = [answer_script(c.script, c.brought)[c.script.members[-1].name] for c in cases]
    assert sum(bool(each.results) for each in last) > 25
