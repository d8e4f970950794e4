"""Value distributions of synthetic streams: `k: zipf(1.1, 1000), v: normal(0, 1)`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.text import concat
from penstock.query import DataType
from penstock.query.source import Field

Values = np.ndarray[Any, np.dtype[Any]]
Constant = str | int | float | bool

FORMS = "uniform(a, b), zipf(s, n), poisson(mean), normal(mean, sd), constant(v), choice(a, b, …)"
_ZIPF_MOST = 10_000_000
_SECOND = 1_000_000

_TEXT = r"'(?:[^'\\]|\\.)*'"
_ITEM = re.compile(rf"\s*(\w+)\s*[:=\s]\s*(\w+)\s*\(((?:[^()']|{_TEXT})*)\)\s*(,|;|$)", re.DOTALL)
_ARGUMENT = re.compile(rf"\s*({_TEXT}|[^,']+?)\s*(?:,|$)", re.DOTALL)


@dataclass(frozen=True)
class Distribution:
    """How the values of a column are drawn."""

    name: str
    arguments: tuple[Constant, ...]


def parse_values(text: str) -> dict[str, Distribution]:
    """The distribution of each column named in a `values` option; ValueError says what is wrong."""
    found: dict[str, Distribution] = {}
    position = 0
    while text[position:].strip():
        item = _ITEM.match(text, position)
        if item is None:
            raise ValueError(f"cannot read {text[position:].strip()[:40]!r}")
        column, name, arguments, _ = item.groups()
        if column in found:
            raise ValueError(f"column {column} is given twice")
        found[column] = Distribution(name.lower(), _arguments(arguments))
        position = item.end()
    return found


def default_for(type_: DataType) -> Distribution:
    """The distribution of a column that declares none: 1,000 values, or as many as fit."""
    return Distribution("uniform", (0, 127 if type_ is DataType.TINYINT else 1000))


def check(distribution: Distribution, field: Field) -> None:
    """ValueError if a column of that type cannot be drawn so."""
    name, arguments = distribution.name, distribution.arguments
    if name not in _CHECKS:
        raise ValueError(f"there is no distribution {name}; there are {FORMS}, sequence()")
    if name in ("constant", "choice"):
        if not arguments or (name == "constant" and len(arguments) > 1):
            raise ValueError(f"{name} of {field.name} must be constant(v) or choice(a, b, …)")
        _constants(arguments, field)
        return
    numbers = [each for each in arguments if isinstance(each, int | float)]
    wrong = len(numbers) != len(arguments) or any(isinstance(n, bool) for n in numbers)
    if wrong or not _CHECKS[name](*numbers):
        raise ValueError(f"{name} of {field.name} must be {_MUST[name]}")
    if name == "uniform" and not _is_real(field.type) and not all(_is_whole(n) for n in numbers):
        raise ValueError(f"uniform of {field.name} needs whole bounds, because it is {field.type}")


def draw(
    distribution: Distribution,
    field: Field,
    count: int,
    generator: np.random.Generator,
    first: int,
) -> pa.Array:
    """Values of a column; `first` is the running number of the first tuple."""
    name, arguments = distribution.name, distribution.arguments
    if name in ("constant", "choice"):
        items = _constants(arguments, field)
        return items.take(pa.array(generator.integers(0, len(items), count)))
    if name == "sequence":
        return _as_type(np.arange(first, first + count), field.type)
    return _as_type(_numbers(name, arguments, _is_real(field.type), count, generator), field.type)


def _numbers(
    name: str, arguments: Any, is_real: bool, count: int, generator: np.random.Generator
) -> Values:
    match name:
        case "uniform" if is_real:
            return generator.uniform(float(arguments[0]), float(arguments[1]), count)
        case "uniform":
            return generator.integers(int(arguments[0]), int(arguments[1]), count)
        case "zipf":
            cumulated = _zipf(float(arguments[0]), int(arguments[1]))
            return np.searchsorted(cumulated, generator.random(count), side="right")
        case "poisson":
            return generator.poisson(arguments[0], count)
    return generator.normal(float(arguments[0]), float(arguments[1]), count)


@lru_cache(maxsize=16)
def _zipf(exponent: float, size: int) -> Values:
    """The chance of each value or a lower one; value v has weight 1/(v+1)^exponent."""
    weights = np.cumsum(np.arange(1, size + 1, dtype=np.float64) ** -exponent)
    cumulated: Values = weights / weights[-1]
    return cumulated


def _as_type(numbers: Values, type_: DataType) -> pa.Array:
    """Numbers as values of a type: text like k17, odd as TRUE, days or seconds after 1970."""
    wanted = arrow_type(type_)
    if type_.is_floating:
        return pa.array(numbers.astype(np.float64)).cast(wanted, safe=False)
    whole = np.rint(numbers).astype(np.int64) if numbers.dtype.kind == "f" else numbers
    if type_.is_decimal:
        return _decimals(numbers * 10.0 ** type_.digits[1], wanted)
    match type_:
        case DataType.STRING:
            text = pa.array(whole.astype(np.int64)).cast(pa.large_string())
            return concat(pa.scalar("k", pa.large_string()), text)
        case DataType.BOOLEAN:
            return pa.array(whole % 2 == 1)
        case DataType.DATE:
            return pa.array(np.clip(whole, 0, 1_000_000), pa.int32()).cast(wanted)
        case DataType.BINARY:
            return pa.array(whole.astype(np.int64)).cast(pa.large_string()).cast(wanted)
        case DataType.TIMESTAMP | DataType.TIMESTAMP_NTZ:
            return pa.array(np.clip(whole, 0, 1 << 37) * _SECOND, pa.int64()).cast(wanted)
    limits = np.iinfo(wanted.to_pandas_dtype())
    return pa.array(np.clip(whole, limits.min, limits.max), wanted)


def _decimals(unscaled: Values, wanted: pa.DataType) -> pa.Array:
    """Numbers without their point as DECIMALs, as far as 18 digits hold them."""
    most = 10 ** min(wanted.precision, 18) - 1
    low = np.rint(np.clip(unscaled, -most, most)).astype(np.int64)
    words = np.column_stack([low, low >> 63])
    return pa.Array.from_buffers(wanted, len(low), [None, pa.py_buffer(words.tobytes())])


def _constants(arguments: tuple[Constant, ...], field: Field) -> pa.Array:
    """The arguments of constant and choice as values of the column."""
    is_text = field.type in (DataType.STRING, DataType.BINARY)
    for each in arguments:
        fits = isinstance(each, str) == is_text and (
            isinstance(each, bool) == (field.type is DataType.BOOLEAN)
        )
        if not fits or field.type.is_temporal:
            raise ValueError(f"{each!r} is not a value for {field.name}, which is {field.type}")
    values: Any = [Decimal(str(each)) for each in arguments] if field.type.is_decimal else arguments
    try:
        return pa.array(values, arrow_type(field.type))
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise ValueError(f"{arguments} do not fit {field.name}, which is {field.type}") from error


def _arguments(text: str) -> tuple[Constant, ...]:
    """The arguments between parentheses: numbers, 'text', TRUE and FALSE."""
    if not text.strip():
        return ()
    return tuple(_constant(each.strip()) for each in _ARGUMENT.findall(text))


def _constant(text: str) -> Constant:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value: Constant = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ValueError(f"{text} is neither a number nor 'text'") from None
    return value


def _is_real(type_: DataType) -> bool:
    return type_.is_floating or (type_.is_decimal and type_.digits[1] > 0)


def _is_whole(number: float) -> bool:
    return number == math.floor(number)


_MUST = {
    "uniform": "uniform(a, b) with a < b",
    "zipf": f"zipf(s, n) with s ≥ 0 and a whole n from 1 to {_ZIPF_MOST:,}",
    "poisson": "poisson(mean) with a mean from 0 to 1,000,000,000",
    "normal": "normal(mean, sd) with sd ≥ 0",
    "sequence": "sequence(), without arguments",
}
_CHECKS: dict[str, Callable[..., bool]] = {
    "uniform": lambda *n: len(n) == 2 and n[0] < n[1] and max(map(abs, n)) < 1 << 62,
    "zipf": lambda *n: len(n) == 2 and n[0] >= 0 and _is_whole(n[1]) and 1 <= n[1] <= _ZIPF_MOST,
    "poisson": lambda *n: len(n) == 1 and 0 <= n[0] <= 1e9,
    "normal": lambda *n: len(n) == 2 and n[1] >= 0 and max(map(abs, n)) < 1 << 62,
    "sequence": lambda *n: not n,
    "constant": lambda *n: True,
    "choice": lambda *n: True,
}
