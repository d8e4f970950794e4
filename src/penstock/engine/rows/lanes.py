"""Lanes: the columns in which rows carry aggregates of the tuples or results they stand for.

A row of a view's intervals stands for join results, a folded row for tuples. A lane is named after
its kind and its argument, which is an input or a value that is aggregated:

    =n        how many they are (=n:A, of the tuples of input A)
    =c:x      how many of them have an x that is not NULL
    =s:x =e:x the sum of their x, and the error that it leaves out
    =min:x    the least x, and =max:x the largest
    =t:x =q:x the sum of their x and of their squares, as whole numbers of many words
    =d:x      their different x
    =u:x      how many different x there are, as registers of a sketch
    =p:x      how many x there are in each bucket of a histogram
    =o:x      how many x are infinite or NaN, which have no place there

Where streams are shed there are more, for estimates of what all tuples would give:

    =w:A      the weight of a tuple of input A, and its lot in =h:A
    =r:n:A    the weighted sum of =n:A, with what it varies by; =r:c:x and =r:s:x likewise
    =b:A      the marks that the tuples of A have set, which tell how many there are
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_MARK = "="


class LaneKind(StrEnum):
    """The kinds of lanes, by the text that their names have."""

    COUNT = "n"
    """Number of tuples or results that a row stands for."""

    KNOWN = "c"
    """Number of those whose value is not NULL."""

    SUM = "s"
    """Sum of the values."""

    ERROR = "e"
    """Part of an exact sum that its float leaves out."""

    MIN = "min"
    """Least value."""

    MAX = "max"
    """Largest value."""

    TOTAL = "t"
    """Sum of the values to the last bit, in words."""

    SQUARES = "q"
    """Sum of their squares likewise."""

    SET = "d"
    """The different values."""

    REGISTERS = "u"
    """Registers of a sketch that tells how many different values there are."""

    BUCKETS = "p"
    """Numbers of values in the buckets of a histogram."""

    NONFINITE = "o"
    """Number of values that are infinite or NaN, of which these sums know nothing."""

    WEIGHT = "w"
    """Number of tuples that a kept tuple stands for."""

    LOT = "h"
    """Random bits of a kept tuple, which follow from its arrival number."""

    ESTIMATE = "r"
    """Weighted sum of another lane, with the replicates that tell how it varies."""

    MARKS = "b"
    """Bits that tuples have set, which tell how many they are."""


@dataclass(frozen=True)
class Lane:
    """A column of aggregates: `str` gives its name, `parse` reads it."""

    kind: LaneKind

    argument: str = ""
    """Input or value that is aggregated; of results none is needed to count them."""

    def __str__(self) -> str:
        return f"{_MARK}{self._text}"

    @property
    def _text(self) -> str:
        return f"{self.kind}:{self.argument}" if self.argument else str(self.kind)

    @classmethod
    def parse(cls, name: str) -> Lane:
        """The lane that a column is; a `ValueError` if it is none."""
        if not is_lane(name):
            raise ValueError(f"{name} is no lane")
        kind, _, argument = name.removeprefix(_MARK).partition(":")
        return cls(LaneKind(kind), argument)

    @property
    def error(self) -> Lane:
        """The lane with the error of this sum."""
        assert self.kind is LaneKind.SUM, "only sums have errors"
        return Lane(LaneKind.ERROR, self.argument)

    @property
    def estimate(self) -> Lane:
        """The lane with the weighted sum of this one."""
        return Lane(LaneKind.ESTIMATE, self._text)

    @property
    def estimated(self) -> Lane:
        """The lane that this weighted sum is of."""
        assert self.kind is LaneKind.ESTIMATE, "only estimates are of other lanes"
        return Lane.parse(f"{_MARK}{self.argument}")


COUNT = Lane(LaneKind.COUNT)
"""The number of results that a row stands for."""


def is_lane(name: str) -> bool:
    """Whether a column is a lane."""
    return name.startswith(_MARK)


def is_wide_lane(name: str) -> bool:
    """Whether a column is a lane of dozens of numbers a row."""
    return name.startswith(f"{_MARK}{LaneKind.ESTIMATE}:")


def count_of(alias: str) -> Lane:
    """The number of an input's tuples that a row stands for."""
    return Lane(LaneKind.COUNT, alias)


def weight_of(alias: str) -> Lane:
    """The weights of an input's tuples."""
    return Lane(LaneKind.WEIGHT, alias)


def lot_of(alias: str) -> Lane:
    """The lots of an input's tuples."""
    return Lane(LaneKind.LOT, alias)


def marks_of(alias: str) -> Lane:
    """The marks of an input's tuples."""
    return Lane(LaneKind.MARKS, alias)


def known_of(argument: str) -> Lane:
    """The number of values of an argument that are not NULL."""
    return Lane(LaneKind.KNOWN, argument)


def sum_of(argument: str) -> Lane:
    """The sum of the values of an argument."""
    return Lane(LaneKind.SUM, argument)
