"""Views: the groups and aggregates of the rows that a join gives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from penstock.query.expression import Call, Column, Expression
from penstock.query.families.decimal_types import averaged, summed
from penstock.query.ranking import NUMBER, Top
from penstock.query.types import DataType, decimal, nested

AggregateFunction = Literal[
    "count", "sum", "avg", "min", "max", "var_samp", "var_pop", "stddev_samp", "stddev_pop",
    "min_by", "max_by", "count_distinct", "sum_distinct", "avg_distinct",
    "approx_count_distinct", "approx_percentile",
]  # fmt: skip
MOMENTS: frozenset[AggregateFunction] = frozenset(
    {"var_samp", "var_pop", "stddev_samp", "stddev_pop"}
)
"""Those that follow from the sum of values and that of their squares."""

DISTINCT: frozenset[AggregateFunction] = frozenset(
    {"count_distinct", "sum_distinct", "avg_distinct"}
)
"""Those in which each value counts once."""
SKETCHES: frozenset[AggregateFunction] = frozenset({"approx_count_distinct", "approx_percentile"})
"""Those that are told from a summary of the values, to some accuracy."""

_COUNTS = ("count", "count_distinct", "approx_count_distinct")

# A view evaluated so often is evaluated at every time at which a window changes.
EAGER = 1

# What the results of a view have after their own columns: the time of the evaluation, and `upsert`
# or `delete`.
TIME = "_time"
CHANGE = "_change"
UPSERT = "upsert"
DELETE = "delete"


@dataclass(frozen=True)
class Output:
    """A column of the result."""

    name: str
    expression: Expression


def paired(by: Expression, value: Expression) -> Call:
    """What MIN_BY and MAX_BY are of: the value of the least or largest `by`, NULL left out."""
    return Call("pair", (by, value), nested("STRUCT", [("by", by.type), ("value", value.type)]))


@dataclass(frozen=True)
class Aggregate:
    """One value a group, over the rows of the join; a column of the view by its name.

    The argument is an output of the join; without one, COUNT counts rows. NULLs are left out. Of
    nothing, COUNT is 0 and the others are NULL. SUM of BIGINT and
    of DECIMAL is exact, and overflow is an error. MIN_BY and MAX_BY are of pairs; of equal ones
    they take the largest value.
    """

    name: str
    function: AggregateFunction
    argument: Column | None

    fraction: Fraction | None = None
    """Of a percentile: the fraction of the values that are not above it."""

    @property
    def type(self) -> DataType:
        if self.argument is None or self.function in _COUNTS:
            return DataType.BIGINT
        of = self.argument.type
        match self.function:
            case "sum" | "sum_distinct" if of.is_decimal:
                return decimal(*summed(of.digits))
            case "avg" | "avg_distinct":
                return decimal(*averaged(of.digits)) if of.is_decimal else DataType.DOUBLE
            case measure if measure in MOMENTS or measure == "approx_percentile":
                return DataType.DOUBLE
            case "min_by" | "max_by":
                return dict(of.parts)["value"]
        return of

    @property
    def written(self) -> str:
        """The name of the function in SQL."""
        if self.type is DataType.BOOLEAN and self.function in ("min", "max"):
            # FALSE is below TRUE.
            return "BOOL_OR" if self.function == "max" else "BOOL_AND"
        return self.function.removesuffix("_distinct").upper()

    @property
    def is_estimable(self) -> bool:
        """Whether a sample of the rows tells it; the smallest and largest may be among the rest."""
        return self.function in ("count", "sum", "avg")

    @property
    def column(self) -> Column:
        """The column that the view's outputs read."""
        return Column("", self.name, self.type)


@dataclass(frozen=True)
class View:
    """The groups of a join's rows with their aggregates, as they are at each multiple of `every`.

    `groups` and the aggregates' arguments are outputs of the join, of which columns have no stream.
    `outputs` and `having` read groups and aggregates. Without groups all rows are one group, which
    is there even if there are no rows. `every` is in microseconds. With a `top` only the first rows
    are shown, of those for which `having` is true.
    """

    groups: tuple[Column, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    every: int = EAGER
    top: Top | None = None

    @property
    def key(self) -> tuple[Expression, ...]:
        """What tells the rows apart: the groups, or the part of a tuple and its number there."""
        if self.top is None or self.top.copies is None:
            return self.groups
        return (*self.top.parts, *([NUMBER] if self.top.count > 1 else []))

    @property
    def placed_by(self) -> tuple[Column, ...]:
        """The groups by which rows are spread over partitions: those of a part stay together."""
        return self.groups if self.top is None else self.top.in_parts(self.groups)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The outputs of the join that are aggregated, each once."""
        return tuple(dict.fromkeys(a.argument.name for a in self.aggregates if a.argument))

    def keeps_values(self, argument: str) -> bool:
        """Whether tuples that differ in an argument are not aggregated into one before the join."""
        return not self.functions_of(argument).isdisjoint(DISTINCT | SKETCHES)

    def type_of(self, argument: str) -> DataType:
        """The type of an argument."""
        found = (a.argument for a in self.aggregates if a.argument and a.argument.name == argument)
        return next(found).type

    def functions_of(self, argument: str) -> frozenset[AggregateFunction]:
        """The aggregates that are asked of an argument."""
        mine = (a for a in self.aggregates if a.argument and a.argument.name == argument)
        return frozenset(a.function for a in mine)
