"""How often the keys of sampled tuples agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.codes import combined_codes, ordered_codes
from penstock.engine.rows.columns import plain_name
from penstock.figure import Figure
from penstock.query import Query
from penstock.query.expression import as_type
from penstock.query.keys import KeyClass, key_classes
from penstock.sampling.estimate import estimate_agreement, frequencies_of
from penstock.stats.statistics import Group

Int64s = NDArray[np.int64]
Rows = Mapping[str, pa.Table]

# Of larger keys, the pairs and the whole: the sets between are too many to spell out.
_SPELLED_OUT = 5


def key_agreements(query: Query, rows: Rows) -> Iterator[tuple[Group, Figure]]:
    """How often the keys of sets of inputs agree; only of inputs with rows."""
    for number, key in enumerate(key_classes(query)):
        members = [alias for alias in key.streams if alias in rows]
        if len(members) < 2:
            continue
        codes = key_codes(key, members, rows)
        values = max(0, *(int(own.max()) for own in codes.values())) + 1
        frequencies = {alias: frequencies_of(own, values) for alias, own in codes.items()}
        for streams in _sets(members):
            figure = estimate_agreement(
                [codes[alias] for alias in streams], [frequencies[alias] for alias in streams]
            )
            if figure is not None:
                parts = tuple(range(len(key.types)))
                yield Group(number, parts, frozenset(streams)), figure


def _sets(members: list[str]) -> Iterator[tuple[str, ...]]:
    whole = len(members)
    sizes: Iterable[int] = range(2, whole + 1) if whole <= _SPELLED_OUT else (2, whole)
    for size in sizes:
        yield from combinations(members, size)


def key_codes(key: KeyClass, members: list[str], rows: Rows) -> dict[str, Int64s]:
    """The keys of each input as numbers from 0, equal for equal keys; −1 where a part is NULL."""
    parts = []
    is_null = {alias: np.zeros(len(rows[alias]), np.bool_) for alias in members}
    for part, type_ in enumerate(key.types):
        sides = {alias: as_type(key.parts(alias)[part], type_) for alias in members}
        columns = [evaluate(side, rows[alias], plain_name) for alias, side in sides.items()]
        for alias, column in zip(members, columns, strict=True):
            is_null[alias] |= column.is_null().to_numpy(zero_copy_only=False)
        parts.append(ordered_codes(columns))
    combined = combined_codes(parts)
    _, dense = np.unique(np.concatenate(combined), return_inverse=True)
    split = np.split(dense, np.cumsum([len(own) for own in combined])[:-1])
    pairs = zip(members, split, strict=True)
    return {alias: np.where(is_null[alias], -1, own) for alias, own in pairs}
