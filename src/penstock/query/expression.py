"""Expressions over the columns of a query's streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal

from penstock.duration import Duration
from penstock.query.function import Function
from penstock.query.source import Step
from penstock.query.types import DataType

Value = bool | int | float | Decimal | str | bytes | date | datetime | None


@dataclass(frozen=True)
class Column:
    """A column of one input, by the input's alias; of a view, where the alias is empty."""

    stream: str
    name: str
    type: DataType

    path: tuple[Step, ...] = field(default=(), compare=False, repr=False)
    """The way into the declared column that it is read from, if it is not one itself."""


@dataclass(frozen=True)
class Literal:
    """A constant. A TIMESTAMP is a timezone-aware datetime in UTC, a TIMESTAMP_NTZ a naive one."""

    value: Value
    type: DataType


@dataclass(frozen=True)
class Call:
    """A function or operator applied to arguments; `FUNCTIONS` lists the names.

    Arguments already have the type in which the function works: the parser puts the casts in.
    `cast` converts its one argument to `type`. `case` takes condition, value, …, default.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: DataType


@dataclass(frozen=True)
class Apply:
    """A user's function applied to arguments, which already have the types that it takes.

    NULL if an argument is NULL: the function is not called then.
    """

    function: Function
    arguments: tuple[Expression, ...]

    @property
    def type(self) -> DataType:
        return self.function.returns


Expression = Column | Literal | Call | Apply

COMPARISONS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
ARITHMETIC = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%"}

# Integer arithmetic is done in BIGINT (overflow is an error), that of DECIMALs in the type of the
# call, other arithmetic in DOUBLE; `/` of integers gives a DOUBLE; division by zero, also `%`, is
# NULL. AND, OR and NOT are three-valued; a comparison with NULL is NULL; NaN equals NaN and is
# above every number. `in`: needle, then literals. `like`: value, literal pattern. `substring`:
# text, start from 1, [length]. `round`: number, [literal digits]. `micros`: a TIMESTAMP since 1970.
# `pair`: by what a value is chosen, and the value; NULL where the former is.
FUNCTIONS = frozenset(
    {*COMPARISONS, *ARITHMETIC}
    | {"and", "or", "not", "is_null", "is_not_null", "negate", "cast", "case", "coalesce", "in"}
    | {"like", "lower", "upper", "length", "trim", "concat", "substring", "starts_with"}
    | {"abs", "round", "floor", "ceil", "sqrt", "greatest", "least", "micros", "pair"}
)


def as_type(expression: Expression, type_: DataType) -> Expression:
    """The expression, cast if it is of another type."""
    return expression if expression.type is type_ else Call("cast", (expression,), type_)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything in it."""
    yield expression
    if isinstance(expression, Call | Apply):
        for argument in expression.arguments:
            yield from walk(argument)


def columns_of(expression: Expression) -> frozenset[Column]:
    """The columns an expression reads."""
    return frozenset(node for node in walk(expression) if isinstance(node, Column))


def streams_of(expression: Expression) -> frozenset[str]:
    """The aliases of the inputs an expression reads."""
    return frozenset(column.stream for column in columns_of(expression))


def substitute(expression: Expression, meanings: Mapping[Expression, Expression]) -> Expression:
    """The expression with whatever is a key replaced by its meaning: `f(a)` → `f(b)`."""
    if expression in meanings:
        return meanings[expression]
    if not isinstance(expression, Call | Apply):
        return expression
    arguments = tuple(substitute(argument, meanings) for argument in expression.arguments)
    return replace(expression, arguments=arguments)


def render(expression: Expression) -> str:
    """The expression as SQL, for explain and messages."""
    match expression:
        case Column(stream=stream, name=name):
            return f"{stream}.{name}" if stream else name
        case Literal(value=None):
            return "NULL"
        case Literal(value=bool() as value):
            return str(value).upper()
        case Literal(value=int() | float() as value):
            return str(value)
        case Literal(value=Decimal() as value):
            return f"{value:f}"
        case Literal(value=str() as value):
            return "'" + value.replace("'", "''") + "'"
        case Literal(value=bytes() as value):
            return f"CAST('{value.decode(errors='replace')}' AS BINARY)"
        case Literal(value=value, type=type_):
            return f"{type_} '{value!s}'"
        case Call():
            return _render_call(expression)
        case Apply(function=function, arguments=arguments):
            return f"{function.name}({', '.join(map(render, arguments))})"
    raise AssertionError(expression)


_INFIX = {**COMPARISONS, **ARITHMETIC, "and": "AND", "or": "OR", "like": "LIKE"}
_WRAPPED = {*_INFIX, "not", "is_null", "is_not_null", "in", "case"}


def _render_call(call: Call) -> str:
    arguments = [render(argument) for argument in call.arguments]
    first, *others = map(_wrap, call.arguments, arguments)
    match call.function:
        case "add" | "subtract" if call.type.is_temporal:
            interval = Duration(int(arguments[1]))
            return f"{first} {_INFIX[call.function]} INTERVAL '{interval}'"
        case infix if infix in _INFIX:
            return f"{first} {_INFIX[infix]} {others[0]}"
        case "not":
            return f"NOT {first}"
        case "negate":
            return f"-({first})" if first.startswith("-") else f"-{first}"
        case "is_null":
            return f"{first} IS NULL"
        case "is_not_null":
            return f"{first} IS NOT NULL"
        case "in":
            return f"{first} IN ({', '.join(arguments[1:])})"
        case "cast":
            return f"CAST({arguments[0]} AS {call.type})"
        case "case":
            pairs = zip(arguments[:-1:2], arguments[1:-1:2], strict=True)
            whens = " ".join(f"WHEN {when} THEN {then}" for when, then in pairs)
            return f"CASE {whens} ELSE {arguments[-1]} END"
    return f"{call.function.upper()}({', '.join(arguments)})"


def _wrap(expression: Expression, rendered: str) -> str:
    """In parentheses where its parts would else be read with what stands around it."""
    is_wrapped = isinstance(expression, Call) and expression.function in _WRAPPED
    return f"({rendered})" if is_wrapped else rendered
