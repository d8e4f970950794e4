"""Types by how they are written: one object each, wherever they come from."""

from __future__ import annotations

import pickle

import pytest

from penstock.cql.expressions.types import type_named
from penstock.query import DataType
from penstock.query.types import common_type, decimal, nested

WRITTEN = {
    "bigint": DataType.BIGINT,
    "numeric( 10 , 2 )": decimal(10, 2),
    "DEC(5)": decimal(5, 0),
    "decimal": decimal(10, 0),
    "timestamp_ltz": DataType.TIMESTAMP,
    "array<dec(3,1)>": nested("ARRAY", [("element", decimal(3, 1))]),
    "map<string,array<int>>": DataType("MAP<STRING, ARRAY<INT>>"),
    "struct<a:int,b struct<`odd, name`: string>>": DataType(
        "STRUCT<a: INT, b: STRUCT<`odd, name`: STRING>>"
    ),
    "interval day to second": DataType("INTERVAL"),
}


@pytest.mark.parametrize("written", WRITTEN)
def test_a_type_is_one_object_also_after_a_pickle(written: str) -> None:
    type_ = WRITTEN[written]
    assert type_named(written) is type_
    assert pickle.loads(pickle.dumps(type_)) is type_
    assert DataType(str(type_)) is type_


@pytest.mark.parametrize(
    "written",
    ["money", "decimal(39, 0)", "decimal(2, 3)", "array<>", "map<int>", "struct<a b:int>"],
)
def test_what_is_no_type(written: str) -> None:
    assert type_named(written) is None
    with pytest.raises(ValueError, match="is no type"):
        DataType(written)


def test_columns_are_held_if_all_that_is_inside_is() -> None:
    assert DataType("STRUCT<a: ARRAY<INT>>").is_held
    assert not DataType("STRUCT<a: ARRAY<VARIANT>>").is_held
    assert [name for name, _ in DataType("STRUCT<a: INT, b: DATE>").parts] == ["a", "b"]


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("INT", "DECIMAL(5, 2)", "DECIMAL(12, 2)"),
        ("BIGINT", "DECIMAL(38, 18)", "DECIMAL(38, 18)"),
        ("BIGINT", "DECIMAL(38, 19)", None),
        ("DECIMAL(38, 0)", "DECIMAL(2, 1)", None),
        ("FLOAT", "DECIMAL(38, 38)", "DOUBLE"),
        ("DATE", "TIMESTAMP_NTZ", "TIMESTAMP_NTZ"),
        ("TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP"),
        ("STRING", "BINARY", None),
        ("ARRAY<INT>", "ARRAY<INT>", None),
    ],
)
def test_common_types(left: str, right: str, common: str | None) -> None:
    for pair in ((left, right), (right, left)):
        assert common_type(*map(DataType, pair)) == common
