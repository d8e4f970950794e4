"""Expressions: what is in them, and what replaces what."""

from __future__ import annotations

from penstock.query import Call, Column, DataType, Literal
from penstock.query.expression import as_type, columns_of, render, streams_of, substitute, walk

K, J = Column("A", "k", DataType.INT), Column("B", "j", DataType.INT)
ONE = Literal(1, DataType.INT)
SUM = Call("add", (K, Call("multiply", (J, ONE), DataType.INT)), DataType.INT)


def test_all_parts_are_walked_from_the_top() -> None:
    assert [render(part) for part in walk(SUM)] == ["A.k + (B.j * 1)", "A.k", "B.j * 1", "B.j", "1"]
    assert columns_of(SUM) == {K, J}
    assert streams_of(SUM) == {"A", "B"}
    assert streams_of(ONE) == frozenset()


def test_the_largest_part_that_has_a_meaning_is_replaced() -> None:
    inner = SUM.arguments[1]
    assert render(substitute(SUM, {inner: K, J: ONE})) == "A.k + A.k"
    assert render(substitute(SUM, {J: K, K: J})) == "B.j + (A.k * 1)"
    assert substitute(SUM, {}) == SUM


def test_only_another_type_is_cast() -> None:
    assert as_type(K, DataType.INT) is K
    assert render(as_type(K, DataType.DOUBLE)) == "CAST(A.k AS DOUBLE)"
