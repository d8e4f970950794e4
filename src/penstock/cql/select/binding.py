"""Expressions: from sqlglot's trees to ours, with names looked up, types checked, casts put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from penstock.cql.expressions.coercion import Typed, cast
from penstock.cql.expressions.functions import bind_apply, bind_function, check_function
from penstock.cql.expressions.literals import parse_decimal, parse_number
from penstock.cql.expressions.operators import (
    arithmetic,
    case,
    compare,
    concat,
    connect,
    convert_to,
    is_in,
    like,
    negate,
    shift,
)
from penstock.cql.expressions.types import parse_type
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import item, member, tolerant
from penstock.cql.reading.scope import Scope
from penstock.errors import FollowingError, SqlError
from penstock.query.expression import Apply, Call, Column, Expression, Literal
from penstock.query.types import DataType
from penstock.slips import meant

_OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.Add: "add",
    exp.Sub: "subtract",
    exp.Mul: "multiply",
    exp.Div: "divide",
    exp.Mod: "modulo",
    exp.And: "and",
    exp.Or: "or",
}

# In the place of a mistake, where all are looked for: it fits wherever a value does.
UNKNOWN = Literal(None, DataType.NULL)
_KNOWN = "the operators are +, -, *, /, %, ||, the comparisons, AND, OR and NOT"


def bind(scope: Scope, node: exp.Expr) -> Expression:
    """The expression that a part of the tree stands for."""
    try:
        expression = _aggregated(scope, node) or _bind(scope, node)
    except SqlError as error:
        scope.text.note(error)
        return UNKNOWN
    return _not(expression) if node.args.get("negate") else expression


def bind_condition(scope: Scope, node: exp.Expr, what: str) -> Expression:
    """The expression, which must be BOOLEAN because `what` needs a condition."""
    expression = bind(scope, node)
    if expression.type not in (DataType.BOOLEAN, DataType.NULL):
        message = f"{what} needs a condition, but this is {expression.type}"
        raise scope.text.error(node_span(node), message, "compare it with something")
    return cast(expression, DataType.BOOLEAN)


def typed(scope: Scope, node: exp.Expr) -> Typed:
    """The expression, with its place."""
    return Typed(bind(scope, node), node)


def _bind(scope: Scope, node: exp.Expr) -> Expression:
    match node:
        case exp.Paren():
            return bind(scope, node.this)
        case exp.Column() if not isinstance(node.this, exp.Star):
            return _named(scope, node)
        case exp.Bracket() | exp.Dot():
            return _inside(scope, node)
        case exp.Literal() | exp.Null() | exp.Boolean():
            return _constant(scope, node)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return compare(scope.text, _OPERATORS[type(node)], *_sides(scope, node))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            return _computed(scope, node)
        case exp.Neg():
            return _negative(scope, node)
        case exp.And() | exp.Or():
            return _connected(scope, node)
        case exp.Not():
            return _negated(scope, node)
        case exp.Between() if not node.args.get("symmetric"):
            return _between(scope, node)
        case exp.Is(expression=exp.Null()):
            return Call("is_null", (bind(scope, node.this),), DataType.BOOLEAN)
        case exp.In(expressions=[_, *_]):
            items = [typed(scope, item) for item in node.expressions]
            return is_in(scope.text, typed(scope, node.this), items)
        case exp.Like():
            return like(scope.text, *_sides(scope, node))
        case exp.DPipe():
            return concat(scope.text, *_sides(scope, node))
        case exp.Case():
            return _case(scope, node)
        case exp.Cast():
            return _converted(scope, node)
        case exp.Anonymous():
            return _function(scope, node)
    raise _foreign(scope, node)


def _named(scope: Scope, node: exp.Column) -> Expression:
    aliased = scope.aliased(node)
    if aliased is None:
        return scope.column(node)
    return _known(scope, node, bind(replace(scope, aliases={}), aliased))


def _aggregated(scope: Scope, node: exp.Expr) -> Expression | None:
    """The column that an aggregate has become; None of all else."""
    column = scope.aggregates.get(id(node))
    return None if column is None else _known(scope, node, column)


def _known(scope: Scope, node: exp.Expr, expression: Expression) -> Expression:
    """What stands elsewhere, if it is no mistake there."""
    if expression is UNKNOWN:
        raise FollowingError("this is not known", place=scope.text.place(node_span(node)))
    return expression


def _inside(scope: Scope, node: exp.Bracket | exp.Dot) -> Column:
    """`b.tags[1]`, `b.props['size']`, `b.people[0].name`."""
    base = bind(scope, node.this)
    if not isinstance(base, Column) or not base.stream:
        hint = "write it b.tags[1], with a column before the bracket"
        raise scope.text.error(node_span(node), "only columns have something inside", hint)
    if isinstance(node, exp.Dot):
        name = node.expression
        return scope.held(member(scope.text, base, name.name, node_span(name)), node_span(node))
    (index,) = node.expressions
    return scope.held(
        item(scope.text, base, _index(scope, index), node_span(node)), node_span(node)
    )


def _index(scope: Scope, node: exp.Expr) -> str | int:
    if isinstance(node, exp.Literal) and (node.is_string or node.name.isdecimal()):
        return node.name if node.is_string else int(node.name)
    hint = "write it b.tags[0] or b.props['size']"
    raise scope.text.error(node_span(node), "this must be a whole number or a text", hint)


def _got(scope: Scope, node: exp.Anonymous) -> Column:
    """`GET(b.tags, 1)`: NULL where the array has no such item."""
    if len(node.expressions) != 2:
        raise scope.text.error(node_span(node), "GET takes 2 arguments", "write GET(b.tags, 1)")
    column, index = typed(scope, node.expressions[0]), node.expressions[1]
    if not isinstance(column.expression, Column) or column.type.kind != "ARRAY":
        message = f"GET needs a column of ARRAY, but this is {column.type}"
        raise scope.text.error(column.span, message, "write GET(b.tags, 1)")
    place = node_span(node)
    return scope.held(
        tolerant(item(scope.text, column.expression, _index(scope, index), place)), place
    )


def _constant(scope: Scope, node: exp.Expr) -> Literal:
    if isinstance(node, exp.Null):
        return Literal(None, DataType.NULL)
    if isinstance(node, exp.Boolean):
        return Literal(bool(node.this), DataType.BOOLEAN)
    if node.is_string:
        return Literal(node.name, DataType.STRING)
    return parse_number(scope.text, node_span(node), node.name)


def _converted(scope: Scope, node: exp.Cast) -> Expression:
    place = node_span(node.args["to"])
    type_ = parse_type(scope.text, place)
    argument = typed(scope, node.this)
    if type_.is_decimal and place < argument.span:
        # DECIMAL '2.50' has the digits that it is written with.
        return parse_decimal(scope.text, argument.span, node.this.name)
    return convert_to(scope.text, node_span(node), argument, type_)


def _sides(scope: Scope, node: exp.Expr) -> tuple[Typed, Typed]:
    return typed(scope, node.this), typed(scope, node.expression)


def _computed(scope: Scope, node: exp.Expr) -> Expression:
    function = _OPERATORS[type(node)]
    left, right = node.this, node.expression
    if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
        left, right = right, left
    if isinstance(right, exp.Interval) and isinstance(node, exp.Add | exp.Sub):
        return shift(scope.text, function, typed(scope, left), right)
    return arithmetic(scope.text, function, *_sides(scope, node))


def _negative(scope: Scope, node: exp.Neg) -> Expression:
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        # In one piece, because the least BIGINT without its sign is no BIGINT.
        return parse_number(scope.text, node_span(node), f"-{node.this.name}")
    return negate(scope.text, node, typed(scope, node.this))


def _connected(scope: Scope, node: exp.Expr) -> Expression:
    function, nodes = _OPERATORS[type(node)], [node]
    while type(nodes[0]) is type(node) and not nodes[0].args.get("negate"):
        nodes[:1] = [nodes[0].this, nodes[0].expression]
    return connect(function, [bind_condition(scope, each, function.upper()) for each in nodes])


def _negated(scope: Scope, node: exp.Not) -> Call:
    if isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null):
        return Call("is_not_null", (bind(scope, node.this.this),), DataType.BOOLEAN)
    return _not(bind_condition(scope, node.this, "NOT"))


def _not(condition: Expression) -> Call:
    return Call("not", (condition,), DataType.BOOLEAN)


def _between(scope: Scope, node: exp.Between) -> Call:
    value = typed(scope, node.this)
    low = compare(scope.text, "ge", value, typed(scope, node.args["low"]))
    high = compare(scope.text, "le", value, typed(scope, node.args["high"]))
    return Call("and", (low, high), DataType.BOOLEAN)


def _case(scope: Scope, node: exp.Case) -> Call:
    branches = node.args["ifs"]
    if node.this is None:
        conditions = [bind_condition(scope, branch.this, "WHEN") for branch in branches]
    else:
        subject = typed(scope, node.this)
        whens = [typed(scope, branch.this) for branch in branches]
        conditions = [compare(scope.text, "eq", subject, when) for when in whens]
    default = [node.args["default"]] if node.args.get("default") else []
    values = [typed(scope, value) for value in [b.args["true"] for b in branches] + default]
    return case(scope.text, conditions, values)


def _function(scope: Scope, node: exp.Anonymous) -> Call | Apply | Column:
    own = scope.functions.get(node.name.lower())
    if own is None and node.name.lower() == "get":
        return _got(scope, node)
    if own is None:
        check_function(scope.text, node, scope.functions.values())
    arguments = [typed(scope, argument) for argument in node.expressions]
    if own is not None:
        return bind_apply(scope.text, node, own, arguments)
    return bind_function(scope.text, node, arguments)


def _foreign(scope: Scope, node: exp.Expr) -> SqlError:
    span = node_span(node)
    if isinstance(node, exp.Window):
        hint = "windows stand in FROM: stream [RANGE 10 SECONDS]; OVER is of ROW_NUMBER()"
        return scope.text.error(span, "OVER does not fit here", hint)
    if isinstance(node, exp.Filter):
        bind(scope, node.this)
        hint = "write SUM(x) FILTER (WHERE …), or CASE WHEN … THEN … END"
        return scope.text.error(span, "FILTER stands after aggregates alone", hint)
    if isinstance(node, exp.Interval):
        hint = "write ts + INTERVAL '5' SECONDS"
        return scope.text.error(span, "an interval can only move a time", hint)
    if isinstance(node, exp.Is) and meant(node.expression.name, ["NULL"]):
        message = f"'{node.expression.name}' does not fit here"
        return scope.text.error(node_span(node.expression), message, "did you mean NULL?")
    return scope.text.error(span, "this is not in the language", _KNOWN)
