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
from penstock.sampling.estimate import estimate_agreement, frequencies_of, sampled
from penstock.sampling.together import ALL_TIME, Episodes
from penstock.stats.statistics import Group

Int64s = NDArray[np.int64]
Rows = Mapping[str, pa.Table]

# Of larger keys, the pairs and the whole: the sets between are too many to spell out.
_SPELLED_OUT = 5


def key_agreements(
    query: Query, rows: Rows, episodes: Episodes = ALL_TIME
) -> Iterator[tuple[Group, Figure]]:
    """How often the keys of sets of inputs agree, of tuples of the same episode; only of inputs
    with rows."""
    labels = {alias: episodes.nearest(each) for alias, each in rows.items()}
    for number, key in enumerate(key_classes(query)):
        members = [alias for alias in key.streams if alias in rows]
        if len(members) < 2:
            continue
        codes = {
            alias: told_apart(own, labels[alias], episodes.count)
            for alias, own in key_codes(key, members, rows).items()
        }
        values = max(0, *(int(own.max()) for own in codes.values())) + 1
        frequencies = {alias: frequencies_of(own, values) for alias, own in codes.items()}
        for streams in _sets(members):
            figure = estimate_agreement(
                [codes[alias] for alias in streams], [frequencies[alias] for alias in streams]
            )
            if figure is not None:
                met = _meeting([labels[alias] for alias in streams], episodes.count)
                figure = sampled(figure.value / met, (figure.error or 0.0) / met)
                parts = tuple(range(len(key.types)))
                yield Group(number, parts, frozenset(streams)), figure


def told_apart(codes: Int64s, labels: Int64s | None, episodes: int) -> Int64s:
    """Keys that are equal only within an episode; rows of a table are there in all of them."""
    if episodes == 1:
        return codes
    if labels is None:
        every = np.arange(episodes)[:, None]
        return np.where(codes < 0, -1, codes * episodes + every).reshape(-1)
    return np.where(codes < 0, -1, codes * episodes + labels)


def _meeting(labels: list[Int64s | None], episodes: int) -> float:
    """The part of the combinations of tuples that are of the same episode."""
    even = np.full(episodes, 1.0 / episodes)
    shares = [
        even if own is None else np.bincount(own, minlength=episodes) / len(own) for own in labels
    ]
    return float(np.prod(shares, axis=0).sum())


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
