"""How many different values columns have, together and alone."""

from __future__ import annotations

from collections.abc import Iterable
from math import expm1, inf, log1p, prod

from penstock.optimize.problem import DEFAULT_GROUPS
from penstock.query import Column, DataType, Expression
from penstock.query.expression import columns_of
from penstock.query.keys import key_classes
from penstock.stats.figure import Figure
from penstock.stats.known import Known


def combinations(known: Known, expressions: Iterable[Expression]) -> float:
    """How many different rows there are of some expressions, as if columns were independent."""
    columns = {column for expression in expressions for column in columns_of(expression)}
    return prod(distinct_values(known, column).value for column in columns)


def distinct_values(known: Known, column: Column) -> Figure:
    """The different values of a column: as given, else as its key class says, else by its type."""
    given = known.distinct.get(column.stream, {}).get(column.name)
    found = given or _by_key(known, column) or _by_type(column.type)
    rows = known.cardinalities.get(column.stream)
    if rows is not None and rows.value < found.value:
        return Figure(max(1.0, rows.value), "guessed", rule="a value a row")
    return found


def occupied(cells: float, rows: float) -> float:
    """How many of so many equally likely cells so many rows are expected to fall into.

    `D·(1 − (1 − 1/D)ⁿ)` (Cardenas), and never more than there are rows.
    """
    if rows <= 0.0:
        return 0.0
    if cells == inf:
        return rows
    if cells <= 1.0:
        return min(1.0, rows)
    return min(rows, -cells * expm1(rows * log1p(-1.0 / cells)))


def _by_key(known: Known, column: Column) -> Figure | None:
    """One over the fraction of pairs that are equal on its key (T&L: join cardinality = 1/σ).

    With several partners the least of these bounds. The parts of a key share alike.
    """
    for number, key in enumerate(key_classes(known.query)):
        if column.stream in key.streams and column in key.parts(column.stream):
            pairs = [
                f for s, f in known.groups[number].items() if {column.stream} < s and len(s) == 2
            ]
            largest = max(pairs, key=lambda figure: figure.value)
            share = 1.0 / len(key.types)
            values = inf if largest.value <= 0.0 else (1.0 / largest.value) ** share
            return Figure(max(1.0, values), largest.origin, rule="1/selectivity")
    return None


def _by_type(kind: DataType) -> Figure:
    """A time or a measurement hardly ever comes twice; other values are those of some groups."""
    match kind:
        case DataType.BOOLEAN:
            return Figure(2.0, "guessed", rule="two values")
        case DataType.TIMESTAMP | DataType.FLOAT | DataType.DOUBLE:
            return Figure(inf, "guessed", rule="hardly a value twice")
    return Figure(DEFAULT_GROUPS, "guessed", rule=f"{DEFAULT_GROUPS:.0f} values")
