"""Training attributes as columns of numbers for a decision tree, and its tests as `Split`s."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from penstock.plan.mesh import Fork, Split
from penstock.stats.training import Training

Codes = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Numbers:
    """An attribute of numbers: a tuple's code is the rank of its value; NULL comes after all.

    Ranks, because scikit-learn has 32-bit numbers and a time in microseconds does not fit.
    """

    attribute: str
    known: tuple[float, ...]
    codes: Codes

    def split(self, threshold: float, low: Fork, high: Fork) -> Split:
        """The test of whether a code is at most the threshold; an infinite limit passes all but
        NULL."""
        rank = int(threshold)
        limit = _between(*self.known[rank : rank + 2]) if rank + 1 < len(self.known) else inf
        return Split(self.attribute, limit, frozenset(), low, high)


@dataclass(frozen=True)
class Texts:
    """An attribute of texts: the values seen (with NULL, if it was), and which one each tuple has.

    Before a tree can use them they need codes that follow from the labels.
    """

    attribute: str
    seen: tuple[str | None, ...]
    places: Labels


@dataclass(frozen=True)
class Leanings:
    """Texts for one label: a value's code is the part of its tuples that have the label.

    A threshold then parts the values by how much they lean to that label. With two labels no other
    sets of values tell them apart better (Breiman et al. 1984, Theorem 4.5).
    """

    texts: Texts
    shares: Codes

    @property
    def codes(self) -> Codes:
        return self.shares[self.texts.places]

    def split(self, threshold: float, low: Fork, high: Fork) -> Split:
        """The test of whether a code is at most the threshold, as the set of the texts that pass.

        NULL must not pass, nor does a text that was not seen: the shorter list is the special one.
        """
        pairs = zip(self.texts.seen, self.shares, strict=True)
        below = {text for text, share in pairs if share <= threshold}
        above = {*self.texts.seen} - below
        if None in above or (None not in below and len(below) < len(above)):
            return Split(self.texts.attribute, None, _named(below), low, high)
        return Split(self.texts.attribute, None, _named(above), high, low)


Column = Numbers | Leanings


def telling_attributes(training: Training) -> list[Numbers | Texts]:
    """The attributes that have more than one value, so that a test could tell tuples apart."""
    found = [_attribute(training, place) for place in range(len(training.attributes))]
    return [each for each in found if len(np.unique(_codes(each))) > 1]


def tree_columns(
    attributes: list[Numbers | Texts], weights: NDArray[np.float64], labels: Labels
) -> list[Column]:
    """The columns for a tree that is to tell labels (from 0 on) apart."""
    count = int(labels.max()) + 1
    chosen = range(1 if count == 2 else 0, count)
    return [
        column
        for attribute in attributes
        for column in (
            [attribute]
            if isinstance(attribute, Numbers)
            else [_leaning(attribute, weights, labels == label) for label in chosen]
        )
    ]


def _attribute(training: Training, place: int) -> Numbers | Texts:
    name, values = training.attributes[place], [row[place] for row in training.values]
    if any(isinstance(value, str) for value in values):
        texts = [None if value is None else str(value) for value in values]
        seen = tuple(dict.fromkeys(texts))
        return Texts(name, seen, np.array([seen.index(text) for text in texts]))
    numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    known, ranks = np.unique(numbers, return_inverse=True)
    return Numbers(name, tuple(known[~np.isnan(known)].tolist()), ranks.astype(np.float32))


def _codes(attribute: Numbers | Texts) -> NDArray[np.generic]:
    return attribute.codes if isinstance(attribute, Numbers) else attribute.places


def _leaning(texts: Texts, weights: NDArray[np.float64], has_label: NDArray[np.bool_]) -> Leanings:
    count = len(texts.seen)
    whole = np.bincount(texts.places, weights, count)
    part = np.bincount(texts.places, weights * has_label, count)
    return Leanings(texts, (part / np.where(whole > 0, whole, 1.0)).astype(np.float32))


def _named(texts: set[str | None]) -> frozenset[str]:
    return frozenset(text for text in texts if text is not None)


def _between(low: float, high: float) -> float:
    """A limit between two values; the lower one itself if no number lies there."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
