"""The shape of a stats file, and what its numbers may be."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from penstock.duration import Duration
from penstock.figure import Figure
from penstock.stats.statistics import Unique

Given = Literal["declared", "sampled", "measured"]
Check = Callable[[Any], float]

_ORIGINS = ("declared", "sampled", "measured")
_FIGURE = ("value", "origin", "error")
_KEY = ("value", "origin")
# Weights are written with six digits each.
_WHOLE = 1e-3
# A variation beyond which no stream is, and squares do not overflow: a second of a million times
# the usual number in a million seconds has a variation of a thousand.
_WILDEST = 1e6
_BYTES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def _number(is_right: Callable[[float], bool], demand: str) -> Check:
    def check(given: Any) -> float:
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise ValueError(f"is {given!r}, but must be a number")
        if not is_right(given):
            raise ValueError(f"is {given:g}, but must be {demand}")
        return float(given)

    return check


_positive = _number(lambda x: 0 < x < math.inf, "above 0 and finite")
_at_least_0 = _number(lambda x: 0 <= x < math.inf, "at least 0 and finite")
_count = _number(lambda x: 1 <= x < math.inf, "at least 1 and finite")
_fraction = _number(lambda x: 0 <= x <= 1, "between 0 and 1")
_variation = _number(lambda x: 0 <= x <= _WILDEST, f"from 0 to {_WILDEST:,.0f}")
_warmup = _number(lambda x: x >= 0, "at least 0, or inf")


def _figure(check: Check) -> BeforeValidator:
    """Reads `10`, which is declared, and `{value = 10, origin = "sampled", error = 2}`."""

    def read(given: Any) -> Figure:
        table = given if isinstance(given, dict) else {"value": given}
        strange = next((key for key in table if key not in _FIGURE), None)
        if strange is not None or "value" not in table:
            fault = "has no value" if strange is None else f"has a {strange}"
            raise ValueError(f"{fault}; a figure has value, origin and error")
        origin = table.get("origin", "declared")
        if origin not in _ORIGINS:
            raise ValueError(f"has the origin {origin!r}, but it must be one of {_listed()}")
        return Figure(check(table["value"]), origin, _error(table.get("error")))

    return BeforeValidator(read)


def _error(given: Any) -> float | None:
    try:
        return None if given is None else _at_least_0(given)
    except ValueError as error:
        raise ValueError(f"has an error that {error}") from None


def _listed() -> str:
    return f"{', '.join(_ORIGINS[:-1])} and {_ORIGINS[-1]}"


def _value(given: Any) -> float | str | None:
    if isinstance(given, str):
        return given
    if isinstance(given, bool) or not isinstance(given, int | float) or math.isinf(given):
        raise ValueError(f"is {given!r}, but must be a text or a number; nan is NULL")
    return None if math.isnan(given) else float(given)


def _horizon(given: Any) -> float:
    if not isinstance(given, str):
        return _positive(given)
    try:
        seconds = Duration.parse(given).seconds
    except ValueError as error:
        raise ValueError(f"is wrong: {error.args[0]}") from None
    return _positive(seconds)


def _memory(given: Any) -> float:
    if not isinstance(given, str):
        return _positive(given)
    found = re.fullmatch(r"([\d.]+)\s*([kMG]i?|Ki)?B", given.strip())
    if found is None:
        raise ValueError(f"is {given!r}, but must be bytes, or a text such as '64 MB' or '16 KiB'")
    return _positive(float(found.group(1)) * _BYTES[found.group(2) or ""])


def _unique(given: Any) -> Unique:
    """Reads `["id", ["shop", "item"]]`, which is declared, and `[{value = "id", origin = …}]`."""
    if not isinstance(given, list):
        raise ValueError(f"is {given!r}, but must be an array of keys")
    return dict(_unique_key(each) for each in given)


def _unique_key(given: Any) -> tuple[tuple[str, ...], Given]:
    table = given if isinstance(given, dict) else {"value": given}
    strange = next((key for key in table if key not in _KEY), None)
    if strange is not None:
        raise ValueError(f"has a key with {strange}; it has value and origin")
    columns, origin = table.get("value"), table.get("origin", "declared")
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise ValueError(f"has the key {columns!r}, but a key is a column or an array of columns")
    if origin not in _ORIGINS:
        raise ValueError(f"has the origin {origin!r}, but it must be one of {_listed()}")
    return tuple(names), origin


Positive = Annotated[Figure, _figure(_positive)]
AtLeast0 = Annotated[Figure, _figure(_at_least_0)]
Count = Annotated[Figure, _figure(_count)]
Fraction = Annotated[Figure, _figure(_fraction)]
Variation = Annotated[Figure, _figure(_variation)]
UniqueKeys = Annotated[Unique, BeforeValidator(_unique)]
Seconds = Annotated[float, BeforeValidator(_at_least_0)]


class Table(BaseModel):
    """A table of the file: a key that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class WindowCostsTable(Table):
    """`costs` in `[streams.A]`: seconds at the window of one input."""

    insert: AtLeast0 | None = None
    """To insert one of its tuples."""

    probe: AtLeast0 | None = None
    """To look something up in it."""

    expire: AtLeast0 | None = None
    """To take one of its tuples out."""

    @model_validator(mode="after")
    def something(self) -> Self:
        """Refuses a table that says nothing."""
        if not self.model_fields_set:
            raise ValueError("is empty")
        return self


class StreamTable(Table):
    """`[streams.A]`"""

    rate: Positive | None = None
    """Tuples a second, before filters."""

    cardinality: AtLeast0 | None = None
    """All tuples of a stream that ends, or the rows of a table."""

    distinct: dict[str, Count] = Field(default_factory=dict)
    """How many values its columns have, by column."""

    cells: Count | None = None
    """Combinations of what its tuples are folded by, counted together, behind its filters."""

    costs: WindowCostsTable | None = None
    """Seconds at its own window, where that is kept in another way than others."""

    variation: Variation | None = None
    """Standard deviation of the tuples of a second, over their mean."""

    unique: UniqueKeys = Field(default_factory=dict)
    """Keys that no two of its tuples have in common: columns, or arrays of them."""


class ConditionTable(Table):
    """The figures after a predicate in `[joins]` and `[filters]`."""

    selectivity: Fraction | None = None
    """The part of tuples, or of combinations, for which it is true."""

    cost: AtLeast0 | None = None
    """Seconds to evaluate it once; of an equality, for each row that comes to its join."""


class CostsTable(Table):
    """`[costs]`: join, or the others."""

    origin: Given = "declared"
    """Where all of these come from."""

    join: Seconds | None = None
    insert: Seconds = 0.0
    probe: Seconds = 0.0
    expire: Seconds = 0.0
    move: Seconds = 0.0
    hash: Seconds = 0.0
    compare: Seconds = 0.0
    arrive: Seconds = 0.0
    result: Seconds = 0.0
    fold: Seconds | None = None
    tally: Seconds | None = None
    route: Seconds | None = None
    classify: Seconds | None = None
    keep: Seconds = 0.0
    search: Seconds = 0.0
    batch: Seconds = 0.0
    round: Seconds = 0.0

    @model_validator(mode="after")
    def one_way_or_the_other(self) -> Self:
        """Refuses a cost for all of a join beside costs of its parts."""
        others = sorted(self.model_fields_set - {"join", "origin"})
        if self.join is not None and others:
            raise ValueError(f"gives join and {others[0]}: join stands for all the others")
        return self


def _check_rows(
    name: str, rows: Sequence[Sequence[object]], count: int, width: int, columns: str
) -> None:
    if len(rows) != count:
        raise ValueError(f"has {count} weights, but {len(rows)} rows of {name}")
    wrong = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if wrong is not None:
        length = len(rows[wrong])
        raise ValueError(f"has {width} {columns}, but row {wrong + 1} of {name} has {length}")


class TrainingTable(Table):
    """`[training.A]`: a row of values and one of yields for each training tuple; NULL is nan."""

    attributes: list[str]
    """The columns that may tell tuples apart."""

    operators: list[str]
    """The filters and probes that tuples meet."""

    weights: list[Annotated[float, BeforeValidator(_positive)]]
    """The part of the stream that each training tuple stands for; they add up to 1."""

    values: list[list[Annotated[float | str | None, BeforeValidator(_value)]]]
    """The values of the attributes, a row for each training tuple."""

    yields: list[list[Annotated[float, BeforeValidator(_at_least_0)]]]
    """The rows that each operator makes of one, a row for each training tuple."""

    @model_validator(mode="after")
    def all_fit(self) -> Self:
        """Refuses rows that are too many, too few, too short or too long."""
        count = len(self.weights)
        if abs(sum(self.weights) - 1) > _WHOLE:
            raise ValueError(f"has weights that add up to {sum(self.weights):.4g}, not to 1")
        _check_rows("values", self.values, count, len(self.attributes), "attributes")
        _check_rows("yields", self.yields, count, len(self.operators), "operators")
        return self


class TrainingFile(Table):
    """The file beside a stats file that holds nothing but training, which nobody edits."""

    training: dict[str, TrainingTable] = Field(default_factory=dict)


class StatsFile(Table):
    """The whole file; `training` may also be the name of a file beside it."""

    capacity: Positive | None = None
    """CPU-seconds a second that there are."""

    rows_warmup: Annotated[float, BeforeValidator(_warmup)] | None = None
    """Seconds in which a ROWS window that is shed must fill."""

    horizon: Annotated[float, BeforeValidator(_horizon)] | None = None
    """When UNBOUNDED windows are looked at: seconds, or a text such as '1 hour'."""

    memory: Annotated[float, BeforeValidator(_memory)] | None = None
    """For windows, indexes and inner results: bytes, or a text such as '64 MB' (laboratory)."""

    streams: dict[str, StreamTable] = Field(default_factory=dict)
    """What is known of each input, by its alias or the name of its stream."""

    joins: dict[str, ConditionTable] = Field(default_factory=dict)
    """What is known of conditions between inputs, by their text."""

    filters: dict[str, ConditionTable] = Field(default_factory=dict)
    """What is known of conditions on one input, by their text."""

    costs: CostsTable | None = None
    """Seconds of each kind of work for a tuple."""

    training: dict[str, TrainingTable] = Field(default_factory=dict)
    """Samples for meshes, by input; or the name of the file beside it that has them."""

    untrained: dict[str, str] = Field(default_factory=dict)
    """Why an input has no training."""


TABLES: dict[str, type[Table]] = {
    "streams": StreamTable,
    "joins": ConditionTable,
    "filters": ConditionTable,
    "costs": CostsTable,
    "training": TrainingTable,
}
