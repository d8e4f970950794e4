"""Yields of probes: the rows of a full window that match each sampled tuple (QM)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.sampling.estimate import Floats, Int64s, frequencies_of
from penstock.sampling.key_selectivity import key_codes, told_apart
from penstock.sampling.together import ALL_TIME, Episodes

Codes = Mapping[int, Int64s]
"""The keys of some tuples of one input as numbers, −1 for NULL, by key class."""


@dataclass(frozen=True)
class Windows:
    """Full windows of all inputs, by sampled tuples that passed their filters.

    `sizes` are the tuples in each window, `codes` the keys of the sampled tuples, `drawn` those of
    other tuples, for which yields are asked. Keys are told apart by `episodes`: a window holds
    tuples of one of them. `most` are, by target and key class, the rows of a window that a key can
    have, where it is unique.
    """

    sizes: Mapping[str, float]
    codes: Mapping[str, Codes]
    drawn: Mapping[str, Codes]
    episodes: int = 1
    most: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def matches(self, driver: str, target: str, count: int) -> Floats:
        """Rows of the target's window that match each of a driver's `count` drawn tuples.

        Where no key links the two, it is the mean over what a tuple finds on the shortest way from
        key to key; without a way all of the window is looked at.
        """
        found: dict[str, Floats] = {}
        while (matches := self._by_key(self.drawn[driver], target, found)) is None:
            between = set(self.codes) - {driver, target} - set(found)
            nearer = {a: self._by_key(self.codes[a], target, found) for a in sorted(between)}
            reached = {alias: rows for alias, rows in nearer.items() if rows is not None}
            if not reached:
                return np.full(count, self.sizes[target])
            found |= reached
        return matches

    def _by_key(self, own: Codes, target: str, found: Mapping[str, Floats]) -> Floats | None:
        """The matches of tuples with the given keys: by a key, or by what they find among `found`,
        the matches of other inputs' tuples; None where neither is."""
        shared = [k for k in own if k in self.codes[target]]
        if shared:
            fractions = [_at(self._frequencies(k, target), own[k]) for k in shared]
            limits = self.most.get(target, {})
            most = min((limits[k] for k in shared if k in limits), default=np.inf)
            rows: Floats = np.minimum(self.sizes[target] * np.prod(fractions, axis=0), most)
            return rows
        for k, codes in own.items():
            for alias, rows in found.items():
                if k in self.codes[alias]:
                    return _at(_means(self.codes[alias][k], rows), codes)
        return None

    def _frequencies(self, key: int, alias: str) -> Floats:
        codes = self.codes[alias][key]
        found = frequencies_of(codes, int(codes.max(initial=-1)) + 1)
        known = codes[codes >= 0] % self.episodes
        shares = np.bincount(known, minlength=self.episodes) / max(len(known), 1)
        return np.divide(
            found,
            shares[np.arange(len(found)) % self.episodes],
            out=np.zeros(len(found)),
            where=found > 0,
        )


def windows_of(
    query: Query,
    passing: Mapping[str, pa.Table],
    drawn: Mapping[str, pa.Table],
    sizes: Mapping[str, float],
    episodes: Episodes = ALL_TIME,
) -> Windows:
    """The windows of a query by samples of its inputs; `drawn` are tuples of its streams."""
    kept: dict[str, dict[int, Int64s]] = {alias: {} for alias in passing}
    asked: dict[str, dict[int, Int64s]] = {alias: {} for alias in drawn}
    for number, key in enumerate(key_classes(query)):
        rows = {a: pa.concat_tables([passing[a], *_also(drawn, a)]) for a in key.streams}
        for alias, codes in key_codes(key, list(key.streams), rows).items():
            count = len(passing[alias])
            labels = episodes.nearest(rows[alias])
            mine = None if labels is None else labels[:count]
            kept[alias][number] = told_apart(codes[:count], mine, episodes.count)
            if alias in asked:
                theirs = None if labels is None else labels[count:]
                asked[alias][number] = told_apart(codes[count:], theirs, episodes.count)
    return Windows(sizes, kept, asked, episodes.count)


def _also(drawn: Mapping[str, pa.Table], alias: str) -> list[pa.Table]:
    return [drawn[alias]] if alias in drawn else []


def _at(by_code: Floats, codes: Int64s) -> Floats:
    """The values at the codes; 0 for NULL and for codes that are not among them."""
    is_known: NDArray[np.bool_] = (codes >= 0) & (codes < len(by_code))
    found: Floats = np.zeros(len(codes))
    found[is_known] = by_code[codes[is_known]]
    return found


def _means(codes: Int64s, values: Floats) -> Floats:
    """The mean of the values of each code; 0 where there are none."""
    is_key = codes >= 0
    counts = np.bincount(codes[is_key])
    sums = np.bincount(codes[is_key], weights=values[is_key])
    means: Floats = np.divide(sums, counts, out=np.zeros(len(sums)), where=counts > 0)
    return means
