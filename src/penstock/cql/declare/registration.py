"""A user's Python function made known to queries, with its types and cost."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from sqlglot import exp

from penstock.cql.expressions.functions import AGGREGATES, FOREIGN_AGGREGATES, SIGNATURES
from penstock.cql.expressions.types import TYPES_HINT, type_named
from penstock.cql.reading.dialect import parse_statement, tokenize
from penstock.cql.reading.text import Text
from penstock.duration import parse_seconds
from penstock.errors import FunctionError, SqlError
from penstock.query.function import Function
from penstock.query.types import DataType

_PYTHON_TYPES: Mapping[Any, DataType] = {
    bool: DataType.BOOLEAN,
    int: DataType.BIGINT,
    float: DataType.DOUBLE,
    str: DataType.STRING,
    bytes: DataType.BINARY,
    date: DataType.DATE,
    datetime: DataType.TIMESTAMP,
}
_ANNOTATE = (
    "annotate it with bool, int, float, str, bytes, date or datetime, or give arguments= and "
    "returns= by their SQL types"
)
_COST_HINT = "write it like cost='0.5 ms', or as seconds: cost=0.0005"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def function(
    *,
    cost: str | float,
    selectivity: float | None = None,
    name: str | None = None,
    arguments: Sequence[str] | None = None,
    returns: str | None = None,
    vectorized: bool = False,
) -> Callable[[Callable[..., Any]], Function]:
    """A decorator that makes a Python function known to queries: `@ps.function(cost="0.5 ms")`.

    `cost` is the time of one call, or of one row if the function is vectorized; `selectivity` the
    fraction of calls that give True. The types are those of the annotations, unless `arguments` and
    `returns` name SQL types.
    """

    def register(call: Callable[..., Any]) -> Function:
        known = name or str(getattr(call, "__name__", "function"))
        takes = _annotated(known, call) if arguments is None else _named(known, arguments)
        gives = _returned(known, call) if returns is None else _named(known, [returns])[0]
        if not takes:
            raise FunctionError(
                f"function {known} takes no arguments", hint="give it the column it is to look at"
            )
        share = _share(known, gives, selectivity)
        return Function(known, takes, gives, _seconds(known, cost), call, share, vectorized)

    return register


def by_name(functions: Iterable[Function]) -> dict[str, Function]:
    """Functions by the name that calls them, in lower case; each name must be free and callable."""
    found: dict[str, Function] = {}
    for each in functions:
        if not isinstance(each, Function):
            hint = "decorate it: @penstock.function(cost='0.5 ms')"
            raise FunctionError(f"{each!r} is not registered for queries", hint=hint)
        key = each.name.lower()
        if key in (*SIGNATURES, *AGGREGATES, *FOREIGN_AGGREGATES):
            raise _misnamed(f"function {each.name} has the name of a built-in one", each)
        if key in found:
            raise _misnamed(f"two functions are named {each.name}", each)
        if not _is_callable(each.name):
            raise _misnamed(f"{each.name} is a word of SQL, or no name", each)
        found[key] = each
    return found


def _misnamed(message: str, named: Function) -> FunctionError:
    return FunctionError(message, hint=f"rename it: @function(name='my_{named.name}', …)")


def _is_callable(name: str) -> bool:
    """Whether the grammar takes `name(…)` for the call of a function."""
    text = Text(f"SELECT {name}(1)", "function")
    try:
        (called,) = parse_statement(text, tokenize(text)).expressions
    except (SqlError, ValueError):
        return False
    return isinstance(called, exp.Anonymous) and called.name == name


def _annotated(name: str, call: Callable[..., Any]) -> tuple[DataType, ...]:
    hints = _hints(name, call)
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:
        raise FunctionError(f"function {name} hides its arguments", hint=_ANNOTATE) from None
    for parameter in parameters:
        if parameter.kind not in _POSITIONAL:
            hint = "queries give arguments by their place: list them one by one"
            bare = parameter.replace(annotation=inspect.Parameter.empty)
            raise FunctionError(f"function {name} has the parameter {bare}", hint=hint)
    return tuple(_python_type(f"{name}: the argument {p.name}", hints, p.name) for p in parameters)


def _returned(name: str, call: Callable[..., Any]) -> DataType:
    return _python_type(f"{name}: the result", _hints(name, call), "return")


def _hints(name: str, call: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(call)
    except (NameError, TypeError) as error:
        raise FunctionError(f"function {name}: {error}", hint=_ANNOTATE) from None


def _python_type(what: str, hints: Mapping[str, Any], key: str) -> DataType:
    if key not in hints:
        raise FunctionError(f"function {what} has no type", hint=_ANNOTATE)
    type_ = _PYTHON_TYPES.get(_without_none(hints[key]))
    if type_ is None:
        message = f"function {what} has the type {inspect.formatannotation(hints[key])}"
        raise FunctionError(message, hint=_ANNOTATE)
    return type_


def _without_none(annotation: Any) -> Any:
    """`bool` for `bool | None`: every type of the language has NULL."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    others = [each for each in get_args(annotation) if each is not NoneType]
    return others[0] if len(others) == 1 else annotation


def _named(name: str, types: Sequence[str]) -> tuple[DataType, ...]:
    if isinstance(types, str) or not isinstance(types, Sequence):
        message = f"function {name}: {types!r} is not a list of types"
        raise FunctionError(message, hint="write it like arguments=['INT', 'STRING']")
    for written in types:
        if not isinstance(written, str) or not _is_taken(type_named(written)):
            message = f"function {name}: {written} is not a type of the language"
            raise FunctionError(message, hint=TYPES_HINT)
    return tuple(type_ for type_ in map(type_named, types) if type_ is not None)


def _is_taken(type_: DataType | None) -> bool:
    """Whether functions may take and give it: columns inside of others are read by their names."""
    return type_ is not None and type_.is_held and not type_.is_nested


def _seconds(name: str, cost: str | float) -> float:
    try:
        seconds = parse_seconds(cost) if isinstance(cost, str) else float(cost)
    except ValueError as error:
        raise FunctionError(f"function {name}: {error.args[0]}", hint=_COST_HINT) from None
    if not 0 <= seconds < math.inf:
        raise FunctionError(f"function {name} cannot cost {cost}", hint=_COST_HINT)
    return seconds


def _share(name: str, returns: DataType, selectivity: float | None) -> float | None:
    if selectivity is None:
        return None
    if returns is not DataType.BOOLEAN:
        message = f"function {name} gives {returns}, which has no selectivity"
        raise FunctionError(message, hint="only conditions have one; leave it out")
    if not 0 <= selectivity <= 1:
        message = f"function {name} cannot have the selectivity {selectivity}"
        raise FunctionError(message, hint="it is the fraction that passes, from 0 to 1")
    return float(selectivity)
