"""Screening: the seconds of a condition are those that its functions are declared with."""

from __future__ import annotations

import pytest

from penstock.engine.routes.screening import SECONDS_A_ROW, declared_seconds
from penstock.query import Apply, Call, Column, Condition, DataType, Function, Literal


def calls(seconds: float, column: Column) -> Apply:
    function = Function("f", (DataType.STRING,), DataType.BIGINT, seconds, len)
    return Apply(function, (column,))


def test_every_call_costs_and_all_else_is_one_row() -> None:
    name = Column("a", "s", DataType.STRING)
    zero = Literal(0, DataType.BIGINT)
    plain = Condition(Call("is_null", (name,), DataType.BOOLEAN))
    assert declared_seconds(plain) == SECONDS_A_ROW
    both = Call("add", (calls(0.25, name), calls(0.5, name)), DataType.BIGINT)
    twice = Condition(Call("gt", (both, zero), DataType.BOOLEAN))
    assert declared_seconds(twice) == pytest.approx(SECONDS_A_ROW + 0.75)
