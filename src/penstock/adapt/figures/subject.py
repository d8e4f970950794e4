"""Subjects: what a figure is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.stats.statistics import Group, group_text


@dataclass(frozen=True)
class Rate:
    """The tuples/s of an input."""

    alias: str

    @property
    def unit(self) -> str:
        return "tuples/s"


@dataclass(frozen=True)
class Passing:
    """The fraction that a condition lets through."""

    text: str

    @property
    def unit(self) -> str:
        return "passes"


@dataclass(frozen=True)
class Cost:
    """The seconds that a condition takes once."""

    text: str

    @property
    def unit(self) -> str:
        return "s"


@dataclass(frozen=True)
class Equal:
    """The fraction of a group's combinations that are equal, and who says so.

    `probe` is a probe of one input's tuples into another's window, `sketch` the keys of new tuples.
    A `route` probes with combinations that have been found before, or into such: it says how much
    more selective the group is than those of its parts, `apart`, that were equal already.
    """

    group: Group
    by: Literal["probe", "route", "sketch"]
    apart: tuple[Group, ...] = ()

    @property
    def unit(self) -> str:
        return "of combinations"


@dataclass(frozen=True)
class Size:
    """The rows of a table."""

    alias: str

    @property
    def unit(self) -> str:
        return "tuples"


@dataclass(frozen=True)
class Distinct:
    """The different values of a column of an input."""

    alias: str
    column: str

    @property
    def unit(self) -> str:
        return "values"


Subject = Rate | Passing | Cost | Equal | Size | Distinct


def described(subject: Subject, query: Query) -> str:
    """A subject as explain names it."""
    match subject:
        case Rate(alias):
            return f"rate of {alias}"
        case Passing(text):
            return text
        case Cost(text):
            return f"cost of {text}"
        case Size(alias):
            return f"tuples of {alias}"
        case Distinct(alias, column):
            return f"different {alias}.{column}"
        case Equal(group, _, apart):
            classes = key_classes(query)
            already = " and ".join(group_text(classes, part) for part in apart)
            return group_text(classes, group) + (f" where {already}" if already else "")
