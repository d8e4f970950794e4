"""Random views of every aggregate over columns of every type, filtered or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

from penstock.query import Aggregate, Call, Column, DataType, Expression, Input, Literal, Output
from penstock.query.view import MOMENTS, AggregateFunction, paired
from support.streams.cases import Case, any_view, cast_to, column_of, compared
from support.streams.typed import COLUMNS, DECIMALS, typed_view

FRACTIONS = tuple(map(Fraction, ("0", "0.1", "0.5", "0.95", "1")))
Draw = Callable[[Random, Sequence[Input]], Expression]


def aggregated_view(seed: int, functions: Sequence[AggregateFunction] | None = None) -> Case:
    """The case of a seed, with one to three of the aggregates in its view, and perhaps a COUNT."""
    rng = Random(f"aggregated {seed}")
    case = typed_view(seed)
    view, inputs = case.query.view, case.query.inputs
    assert view is not None
    names: dict[Expression, str] = {
        o.expression: o.name for o in case.query.outputs if o.name.startswith("#g")
    }
    asked: list[tuple[AggregateFunction, Expression | None]] = []
    for _ in range(rng.randint(1, 3)):
        function = rng.choice(list(functions or DRAWN))
        asked.append((function, _filtered(rng, inputs, DRAWN[function](rng, inputs))))
    if rng.random() < 0.5:
        asked.append(("count", None))
    for _, of in asked:
        if of is not None:
            names.setdefault(of, f"#a{len(names)}")
    aggregates = tuple(
        Aggregate(
            f"#{n}",
            function,
            None if of is None else Column("", names[of], of.type),
            rng.choice(FRACTIONS) if function == "approx_percentile" else None,
        )
        for n, (function, of) in enumerate(asked)
    )
    outputs = tuple(Output(name, of) for of, name in names.items())
    query = replace(case.query, outputs=outputs, view=any_view(rng, view.groups, aggregates))
    return replace(case, query=query)


def _filtered(rng: Random, inputs: Sequence[Input], of: Expression) -> Expression:
    """What is aggregated, often of some rows only: of any input's, or by those of two."""
    if rng.random() < 0.6 or of.type.is_nested:
        return of
    return where(_condition(rng, inputs), of)


def where(condition: Expression, of: Expression) -> Expression:
    """A value where a condition holds, else NULL."""
    return Call("case", (condition, of, Literal(None, of.type)), of.type)


def _condition(rng: Random, inputs: Sequence[Input]) -> Expression:
    one, other = (column_of(rng.choice(inputs), "id") for _ in range(2))
    if one == other:
        known = column_of(rng.choice(inputs), rng.choice(COLUMNS))
        return Call("is_not_null", (known,), DataType.BOOLEAN)
    return compared(rng.choice(("lt", "ge")), one, other).expression


def _column(rng: Random, inputs: Sequence[Input]) -> Column:
    return column_of(rng.choice(inputs), rng.choice((*COLUMNS, "id")))


def _truth(rng: Random, inputs: Sequence[Input]) -> Expression:
    column = _column(rng, inputs)
    if column.type is DataType.BOOLEAN:
        return column
    return _condition(rng, inputs)


def _number(rng: Random, inputs: Sequence[Input]) -> Expression:
    column = _column(rng, inputs)
    if column.type.is_decimal or column.type is DataType.DOUBLE:
        return column
    if column.type is DataType.FLOAT or rng.random() < 0.5:
        return cast_to(column if column.type.is_numeric else _id(rng, inputs), DataType.DOUBLE)
    return cast_to(column if column.type.is_integer else _id(rng, inputs), DataType.BIGINT)


def _id(rng: Random, inputs: Sequence[Input]) -> Column:
    return column_of(rng.choice(inputs), "id")


def _small(rng: Random, inputs: Sequence[Input]) -> Expression:
    """A number of which sums do not overflow, and are the same in any order."""
    column = _column(rng, inputs)
    if column.type in (DataType.TINYINT, DataType.SMALLINT, DataType.INT):
        return cast_to(column, DataType.BIGINT)
    return column if column.type in DECIMALS[:2] else cast_to(_id(rng, inputs), DataType.DOUBLE)


def _double(rng: Random, inputs: Sequence[Input]) -> Expression:
    column = _column(rng, inputs)
    return cast_to(column if column.type.is_numeric else _id(rng, inputs), DataType.DOUBLE)


def _pair(rng: Random, inputs: Sequence[Input]) -> Expression:
    by = _column(rng, inputs)
    if rng.random() < 0.3:
        by = column_of(rng.choice([item for item in inputs if not item.is_table]), "ts")
    return paired(_filtered(rng, inputs, by), _filtered(rng, inputs, _column(rng, inputs)))


DRAWN: Mapping[AggregateFunction, Draw] = {
    **dict.fromkeys(("min", "max"), _truth),
    **dict.fromkeys(MOMENTS, _number),
    **dict.fromkeys(("min_by", "max_by"), _pair),
    "count_distinct": _column,
    "sum_distinct": _small,
    "avg_distinct": _small,
    "approx_count_distinct": _column,
    "approx_percentile": _double,
}
"""What each aggregate is drawn of: `min` and `max` of conditions are BOOL_AND and BOOL_OR."""
