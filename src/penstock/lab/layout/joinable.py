"""Joinable rows: those of each input that no filter or NULL rules out, in integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate, passing
from penstock.engine.rows.codes import combined_codes, ordered_codes
from penstock.engine.rows.columns import plain_name
from penstock.engine.rows.layout import Layout
from penstock.query import Call, Condition, Expression
from penstock.query.expression import COMPARISONS, as_type, streams_of

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """A check between one side of one input and one of another, which a loop can make."""

    operator: str
    left: Expression
    right: Expression

    @property
    def streams(self) -> tuple[str, str]:
        (left,), (right,) = streams_of(self.left), streams_of(self.right)
        return left, right


@dataclass(frozen=True)
class Joinable:
    """Codes of each input's keys (by key class) and compared sides (by comparison), and which rows
    can join at all."""

    keys: Mapping[tuple[str, int], Int64s]
    sides: Mapping[tuple[str, int], Int64s]
    passes: Mapping[str, NDArray[np.bool_]]

    @property
    def counts(self) -> list[int]:
        """How many rows of each input can join."""
        return [int(able.sum()) for able in self.passes.values()]


def comparisons_of(layout: Layout) -> tuple[tuple[Comparison, ...], tuple[Condition, ...]]:
    """The checks of a query that a loop can make, and the others."""
    taken = {check: _comparison(check) for check in layout.checks}
    inside = tuple(comparison for comparison in taken.values() if comparison is not None)
    return inside, tuple(check for check, comparison in taken.items() if comparison is None)


def joinable(
    layout: Layout, comparisons: Sequence[Comparison], rows: Mapping[str, pa.Table]
) -> Joinable:
    """The codes of all inputs' rows."""
    passes = {alias: _filtered(layout, alias, rows[alias]) for alias in rows}
    keys: dict[tuple[str, int], Int64s] = {}
    for k, key in enumerate(layout.keys):
        parts = []
        for p, type_ in enumerate(key.types):
            sides = {alias: as_type(key.parts(alias)[p], type_) for alias in key.streams}
            parts.append(_codes(sides, rows, passes))
        codes = combined_codes(parts)
        keys |= {(alias, k): own for alias, own in zip(key.streams, codes, strict=True)}
    compared: dict[tuple[str, int], Int64s] = {}
    for c, comparison in enumerate(comparisons):
        aliases = comparison.streams
        both = dict(zip(aliases, (comparison.left, comparison.right), strict=True))
        codes = _codes(both, rows, passes)
        compared |= {(alias, c): own for alias, own in zip(aliases, codes, strict=True)}
    return Joinable(keys, compared, passes)


def _codes(
    sides: Mapping[str, Expression],
    rows: Mapping[str, pa.Table],
    passes: Mapping[str, NDArray[np.bool_]],
) -> list[Int64s]:
    """The codes of one expression an input; a row with a NULL there no longer passes."""
    columns = []
    for alias, expression in sides.items():
        column = evaluate(expression, rows[alias], plain_name)
        if column.null_count:
            passes[alias][:] &= column.is_valid().to_numpy(zero_copy_only=False)
        columns.append(column)
    return ordered_codes(columns)


def _filtered(layout: Layout, alias: str, rows: pa.Table) -> NDArray[np.bool_]:
    return passing(layout.query.filters_of(alias), rows, plain_name)


def _comparison(check: Condition) -> Comparison | None:
    match check.expression:
        case Call(function=operator, arguments=(left, right)) if operator in COMPARISONS:
            one, other = streams_of(left), streams_of(right)
            if len(one) == len(other) == 1 and one != other:
                return Comparison(operator, left, right)
    return None
