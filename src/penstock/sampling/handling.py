"""Handling costs: what the keys of equalities take beyond a plain number, timed on samples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from penstock.engine.expressions.evaluate import evaluate, one_array
from penstock.engine.routes.screening import declared_seconds
from penstock.engine.rows.columns import plain_name
from penstock.engine.wire.exchange import hash_values
from penstock.errors import EvaluationError
from penstock.figure import Figure
from penstock.query import Column, Condition, Expression, Query
from penstock.query.expression import as_type, streams_of
from penstock.query.keys import KeyClass, key_classes
from penstock.query.query import Equality
from penstock.query.types import DataType
from penstock.sampling.trial import Failed
from penstock.stats.statistics import Group

Rows = Mapping[str, pa.Table]

LEAST_ROWS = 1_000
"""Of fewer rows, starting to compute takes more than the rows themselves."""
_TURNS = 2
_LEAST_SECONDS = 1e-9


def handling_costs(
    query: Query, rows: Rows, seconds: float, failed: Failed
) -> Iterator[tuple[Group, Figure]]:
    """Seconds that a row takes for the key of each equality whose key is more than a number.

    What numbers take is in the costs of the engine already, and is taken off. Nothing is said where
    a side has few rows. Of each side as many rows are tried as should take so long.
    """
    for equality in query.equalities:
        for number, key in enumerate(key_classes(query)):
            part = _part(key, equality)
            if part is None or not _is_dear(equality, key.types[part]):
                continue
            sides = {_alias(s): as_type(s, key.types[part]) for s in _sides(equality)}
            if any(len(rows.get(alias, ())) < LEAST_ROWS for alias in sides):
                continue
            try:
                spent = [_beyond_numbers(s, rows[alias], seconds) for alias, s in sides.items()]
            except EvaluationError as error:
                failed(f"{equality} fails on the sample, so its cost is not known: {error.message}")
                continue
            cost = float(f"{np.mean(spent):.3g}")
            if cost >= _LEAST_SECONDS:
                yield Group(number, (part,), frozenset(sides)), Figure(cost, "measured")


def _sides(equality: Equality) -> tuple[Expression, Expression]:
    return equality.left, equality.right


def _is_dear(equality: Equality, type_: DataType) -> bool:
    """Whether a side is text, or has to be computed."""
    is_computed = any(not isinstance(side, Column) for side in _sides(equality))
    return is_computed or type_ is DataType.STRING


def _part(key: KeyClass, equality: Equality) -> int | None:
    """The part of a key that an equality is; none if it is of another key."""
    if not equality.streams <= set(key.streams):
        return None
    of_sides = [(side, key.parts(_alias(side))) for side in _sides(equality)]
    every = range(len(key.types))
    return next((p for p in every if all(parts[p] == side for side, parts in of_sides)), None)


def _alias(side: Expression) -> str:
    (alias,) = streams_of(side)
    return alias


def _beyond_numbers(side: Expression, rows: pa.Table, seconds: float) -> float:
    """Seconds of a row for a side of an equality, less those for a number."""
    most = int(max(LEAST_ROWS, seconds / declared_seconds(Condition(side))))
    tried = rows.slice(0, most).combine_chunks()
    numbers = pa.array(np.arange(len(tried), dtype=np.int64))
    own = _fastest(lambda: hash_values(one_array(evaluate(side, tried, plain_name))))
    return max(0.0, own - _fastest(lambda: hash_values(numbers))) / len(tried)


def _fastest(work: Callable[[], object]) -> float:
    """The least seconds of a few turns: what comes in between counts for nothing."""
    found = []
    for _ in range(_TURNS):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)
