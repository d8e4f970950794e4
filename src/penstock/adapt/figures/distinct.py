"""Different values of keys, by how many of them the sketches of recent tuples have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, sqrt

from penstock.adapt.figures.measured import Measured
from penstock.adapt.figures.sketch import Sketch
from penstock.adapt.figures.subject import Distinct
from penstock.query import Column
from penstock.query.keys import KeyClass

_NEARLY_ALL = 0.9
"""Part of the tuples that may be different: where more are, nobody knows how many there are."""
_ROUNDS = 50


def distinct_read(
    classes: tuple[KeyClass, ...], sums: Mapping[tuple[str, int], Sketch]
) -> Iterator[tuple[Distinct, Measured]]:
    """The different values of each key that is one column."""
    for (alias, k), sketch in sums.items():
        parts = classes[k].parts(alias)
        seen = len(sketch.hashes) / sketch.share
        if len(parts) != 1 or not isinstance(parts[0], Column) or not seen:
            continue
        if seen < _NEARLY_ALL * sketch.rows:
            kept = float(len(sketch.hashes))
            error = sqrt((1.0 - sketch.share) / kept + 1.0 / sketch.rows)
            value = values_behind(seen, sketch.rows)
            yield Distinct(alias, parts[0].name), Measured(value, error, kept, value / kept)


def values_behind(seen: float, rows: float) -> float:
    """How many values there are, if so many were seen in rows that take each equally often.

    It solves `seen = D · (1 − exp(−rows / D))`; the right side grows with D.
    """
    low, high = seen, seen
    while high * (1.0 - exp(-rows / high)) < seen and high < 1e3 * rows:
        high *= 2.0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2.0
        if middle * (1.0 - exp(-rows / middle)) < seen:
            low = middle
        else:
            high = middle
    return high
