"""How many different values columns and what is computed of them have, alone and together."""

from __future__ import annotations

from collections.abc import Iterable
from math import expm1, inf, log1p, prod

from penstock.figure import Figure
from penstock.optimize.model.flow import DEFAULT_GROUPS, equal_figures
from penstock.plan.aggregation_sets import set_columns
from penstock.query import Column, DataType, Expression
from penstock.query.expression import columns_of, streams_of
from penstock.query.keys import key_classes
from penstock.stats.groups import UNKNOWN_PAIR, UNKNOWN_PARTS
from penstock.stats.known import Known


def combinations(known: Known, expressions: Iterable[Expression]) -> float:
    """How many different rows there are of some expressions, as if columns were independent.

    What is computed of columns that are there themselves makes no more of them.
    """
    parts = set(expressions)
    columns = {part for part in parts if isinstance(part, Column)}
    computed = {part for part in parts - columns if not columns_of(part) <= columns}
    # In one order, or the last digit would hang on the hashes of this run.
    return prod(distinct_values(known, part).value for part in sorted(columns | computed, key=str))


def cells_of(known: Known, alias: str) -> Figure:
    """The different rows that an aggregation set of an input can have."""
    given = known.cells.get(alias)
    if given is not None:
        return given
    parts = set_columns(known.query, alias)
    return Figure(combinations(known, parts), "guessed", rule="independent columns")


def distinct_values(known: Known, expression: Expression) -> Figure:
    """The different values: as given, else as a key class says, else by type or by what is read."""
    given = _given(known, expression) or _by_key(known, expression)
    found = given or _guess(known, expression)
    rows = [known.cardinalities.get(alias) for alias in streams_of(expression)]
    most = prod(inf if figure is None else figure.value for figure in rows)
    if most < found.value:
        return Figure(max(1.0, most), "guessed", rule="a value a row")
    return found


def is_folding_guessed(known: Known, alias: str) -> bool:
    """Whether an input is taken to fold though nothing given says how many rows its set can have.

    What follows from distinct values or selectivities that are given is no such guess.
    """
    parts = set_columns(known.query, alias)
    return alias not in known.cells and any(_is_by_default(known, part) for part in parts)


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


def _given(known: Known, expression: Expression) -> Figure | None:
    if not isinstance(expression, Column):
        return None
    told = known.unique.get(expression.stream, {}).get((expression.name,))
    unique = None if told is None else Figure(inf, told, rule="no value twice")
    return known.distinct.get(expression.stream, {}).get(expression.name) or unique


def _by_key(known: Known, expression: Expression) -> Figure | None:
    """One over the fraction of pairs that are equal on its key (T&L: join cardinality = 1/σ).

    With several partners the least of these bounds. The parts of a key share alike.
    """
    found = _likeliest(known, expression)
    if found is None:
        return None
    likeliest, parts = found
    values = inf if likeliest.value <= 0.0 else (1.0 / likeliest.value) ** (1.0 / parts)
    return Figure(max(1.0, values), likeliest.origin, rule="1/selectivity")


def _likeliest(known: Known, expression: Expression) -> tuple[Figure, int] | None:
    """Of a part of a key: the pair that is equal most often, and how many parts the key has."""
    for number, key in enumerate(key_classes(known.query)):
        mine = [alias for alias, parts in key.members if expression in parts]
        if mine:
            figures = equal_figures(known, number)
            pairs = [f for s, f in figures.items() if mine[0] in s and len(s) == 2]
            return max(pairs, key=lambda figure: figure.value), len(key.types)
    return None


def _is_by_default(known: Known, expression: Expression) -> bool:
    columns = columns_of(expression)
    if columns and all(_given(known, column) for column in columns):
        return False
    pair = _likeliest(known, expression)
    if pair is not None:
        return pair[0].rule in (UNKNOWN_PAIR, UNKNOWN_PARTS)
    return (
        expression.type is not DataType.BOOLEAN and distinct_values(known, expression).value < inf
    )


def _is_measured(type_: DataType) -> bool:
    has_fraction = type_.is_decimal and type_.digits[1] > 0
    return type_ is DataType.TIMESTAMP or type_.is_floating or has_fraction


def _guess(known: Known, expression: Expression) -> Figure:
    """A time or a measurement hardly ever comes twice; what is computed of it is some group."""
    if expression.type is DataType.BOOLEAN:
        return Figure(2.0, "guessed", rule="two values")
    is_column = isinstance(expression, Column)
    if is_column and _is_measured(expression.type):
        return Figure(inf, "guessed", rule="hardly a value twice")
    read = prod(distinct_values(known, c).value for c in columns_of(expression) - {expression})
    if is_column or read == inf:
        return Figure(DEFAULT_GROUPS, "guessed", rule=f"{DEFAULT_GROUPS:.0f} values")
    return Figure(read, "guessed", rule="as what it reads")
