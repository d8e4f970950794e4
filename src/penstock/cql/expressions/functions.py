"""Calls of functions by name: what they take and what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.cql.expressions.coercion import Typed, align, as_time, demand, demand_number
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.nearest import nearest
from penstock.cql.reading.text import Text
from penstock.cql.refused import WINDOWS_IN_FROM
from penstock.query.expression import Apply, Call, Expression, Literal
from penstock.query.families.decimal_types import rounded
from penstock.query.function import Function
from penstock.query.types import DataType, decimal

AGGREGATES = (
    *("count", "sum", "avg", "min", "max"),
    *("bool_or", "any", "some", "bool_and", "every"),
    *("stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop"),
    *("max_by", "min_by", "first", "last"),
    *("approx_count_distinct", "approx_percentile"),
)
_INSTEAD = {
    "if": "write CASE WHEN … THEN … ELSE … END",
    "iif": "write CASE WHEN … THEN … ELSE … END",
    "ifnull": "write COALESCE(a, b)",
    "nvl": "write COALESCE(a, b)",
    "nullif": "write CASE WHEN a <> b THEN a END",
    "mod": "write a % b",
    "power": "multiply, or register a function of your own",
    "pow": "multiply, or register a function of your own",
    "count_if": "write COUNT(*) FILTER (WHERE …)",
    "countif": "write COUNT(*) FILTER (WHERE …)",
    "date_trunc": WINDOWS_IN_FROM,
    "date_bin": WINDOWS_IN_FROM,
}
"""Functions of other dialects, and how the same is said here."""
_PERCENTILE = "write APPROX_PERCENTILE(x, 0.5)"
FOREIGN_AGGREGATES = {
    **dict.fromkeys(("median", "percentile", "percentile_approx"), _PERCENTILE),
    **dict.fromkeys(("percentile_cont", "percentile_disc"), _PERCENTILE),
    "std": "write STDDEV(x)",
    "first_value": "write FIRST(x)",
    "last_value": "write LAST(x)",
    "any_value": "write MAX(x)",
    "mode": "group by it and count: SELECT x, COUNT(*) … GROUP BY x",
    **dict.fromkeys(("collect_list", "collect_set", "array_agg"), "group by it: GROUP BY x"),
}
"""Aggregates of other dialects, and what to write instead."""

_Bind = Callable[[Text, str, Sequence[Typed]], Call]


@dataclass(frozen=True)
class Signature:
    """How many arguments a function takes, and how a call of it is made from them."""

    least: int
    most: int | None
    bind: _Bind
    usage: str

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.least} argument{'' if self.least == 1 else 's'}"
        upper = "or more" if self.most is None else f"or {self.most}"
        return f"{self.least} {upper} arguments"


def bind_function(text: Text, node: exp.Anonymous, arguments: Sequence[Typed]) -> Call:
    """A call of a function of the language."""
    name = node.name.lower()
    signature = SIGNATURES[name]
    if len(arguments) < signature.least or len(arguments) > (signature.most or len(arguments)):
        message = f"{name.upper()} takes {signature}, not {len(arguments)}"
        raise text.error(node_span(node), message, f"write it {signature.usage}")
    return signature.bind(text, name, arguments)


def bind_apply(
    text: Text, node: exp.Anonymous, function: Function, arguments: Sequence[Typed]
) -> Apply:
    """A call of a user's function."""
    count = len(function.arguments)
    if len(arguments) != count:
        plural = "" if count == 1 else "s"
        message = f"{function.name} takes {count} argument{plural}, not {len(arguments)}"
        raise text.error(node_span(node), message, f"write it {function.usage}")
    pairs = zip(arguments, function.arguments, strict=True)
    return Apply(function, tuple(_fitted(text, function, *pair) for pair in pairs))


def _fitted(text: Text, function: Function, argument: Typed, type_: DataType) -> Expression:
    if type_.is_temporal:
        argument = as_time(text, argument, type_)
    return demand(text, argument, function.name, type_)


def check_function(text: Text, node: exp.Anonymous, own: Iterable[Function]) -> None:
    """Nothing, if the language has a function of that name; `own` are what the user may mean."""
    name = node.name.lower()
    if name in AGGREGATES:
        hint = "aggregates stand in SELECT and HAVING, and not inside one another"
        raise text.error(node_span(node), f"the aggregate {name.upper()} cannot stand here", hint)
    if name in FOREIGN_AGGREGATES:
        message = f"{name.upper()} is not in the language"
        raise text.error(node_span(node), message, FOREIGN_AGGREGATES[name])
    if name not in SIGNATURES:
        known = [*(each.name for each in own), *(built_in.upper() for built_in in SIGNATURES)]
        otherwise = f"the functions are {', '.join(known)}"
        is_cast = any(isinstance(each, exp.Alias) for each in node.expressions)
        callable_ = [*known, *(aggregate.upper() for aggregate in AGGREGATES)]
        meant = ["CAST"] if is_cast else callable_
        near = _INSTEAD.get(name) or nearest(name, meant, otherwise)
        raise text.error(node_span(node), f"there is no function {node.name}", near)


def _strings(result: DataType) -> _Bind:
    def bind(text: Text, name: str, arguments: Sequence[Typed]) -> Call:
        return Call(name, _each(text, name, arguments, DataType.STRING), result)

    return bind


def _substring(text: Text, name: str, arguments: Sequence[Typed]) -> Call:
    string = _each(text, name, arguments[:1], DataType.STRING)
    return Call(name, string + _each(text, name, arguments[1:], DataType.BIGINT), DataType.STRING)


def _number(text: Text, name: str, arguments: Sequence[Typed]) -> Call:
    (argument,) = (demand_number(text, each, name.upper()) for each in arguments)
    return Call(name, (argument,), argument.type)


def _whole(text: Text, name: str, arguments: Sequence[Typed]) -> Call:
    return _with_digits(_number(text, name, arguments), 0)


def _with_digits(call: Call, places: int) -> Call:
    """ROUND, FLOOR or CEIL; of a DECIMAL with the digits that are left."""
    type_ = call.type
    return replace(call, type=decimal(*rounded(type_.digits, places))) if type_.is_decimal else call


def _sqrt(text: Text, name: str, arguments: Sequence[Typed]) -> Call:
    return Call(name, _each(text, name, arguments, DataType.DOUBLE), DataType.DOUBLE)


def _round(text: Text, name: str, arguments: Sequence[Typed]) -> Call:
    number = _number(text, name, arguments[:1])
    for digits in arguments[1:]:
        if not isinstance(digits.expression, Literal) or digits.type is not DataType.INT:
            message = "the digits of ROUND must be a constant whole number"
            raise text.error(digits.span, message, "write it like ROUND(x, 2)")
    places = [digits.expression for digits in arguments[1:]]
    whole = next((each.value for each in places if isinstance(each, Literal)), 0)
    call = _with_digits(number, whole if isinstance(whole, int) else 0)
    return replace(call, arguments=(*call.arguments, *places))


def _aligned(text: Text, name: str, arguments: Sequence[Typed]) -> Call:
    aligned = align(text, arguments)
    return Call(name, tuple(aligned), aligned[0].type)


def _each(
    text: Text, name: str, arguments: Sequence[Typed], *types: DataType
) -> tuple[Expression, ...]:
    return tuple(demand(text, argument, name.upper(), *types) for argument in arguments)


SIGNATURES: Mapping[str, Signature] = {
    "lower": Signature(1, 1, _strings(DataType.STRING), "LOWER(text)"),
    "upper": Signature(1, 1, _strings(DataType.STRING), "UPPER(text)"),
    "trim": Signature(1, 1, _strings(DataType.STRING), "TRIM(text)"),
    "length": Signature(1, 1, _strings(DataType.BIGINT), "LENGTH(text)"),
    "concat": Signature(1, None, _strings(DataType.STRING), "CONCAT(text, …)"),
    "starts_with": Signature(2, 2, _strings(DataType.BOOLEAN), "STARTS_WITH(text, prefix)"),
    "substring": Signature(2, 3, _substring, "SUBSTRING(text, start [, length])"),
    "abs": Signature(1, 1, _number, "ABS(number)"),
    "floor": Signature(1, 1, _whole, "FLOOR(number)"),
    "ceil": Signature(1, 1, _whole, "CEIL(number)"),
    "round": Signature(1, 2, _round, "ROUND(number [, digits])"),
    "sqrt": Signature(1, 1, _sqrt, "SQRT(number)"),
    "coalesce": Signature(1, None, _aligned, "COALESCE(value, …)"),
    "greatest": Signature(2, None, _aligned, "GREATEST(value, value, …)"),
    "least": Signature(2, None, _aligned, "LEAST(value, value, …)"),
}
