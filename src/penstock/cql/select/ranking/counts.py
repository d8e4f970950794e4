"""How many rows are the first: the numbers of LIMIT and QUALIFY."""

from __future__ import annotations

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.text import Text

_MOST = 2**63 - 1
_LIMIT = "write it LIMIT 10"
_FIRST = "QUALIFY keeps the first rows, by their ROW_NUMBER()"


def refuse_offset(text: Text, tree: exp.Expr) -> None:
    """There is no OFFSET, with LIMIT or without it."""
    if tree.args.get("offset"):
        hint = "LIMIT gives the first rows; leave out those that are not wanted where they are read"
        text.note(text.error(node_span(tree.args["offset"]), "OFFSET is not in the language", hint))


def limit_count(text: Text, limit: exp.Expr) -> int:
    """The rows that LIMIT leaves."""
    if not isinstance(limit, exp.Limit) or limit.args.get("limit_options"):
        hint = _LIMIT
        raise text.error(node_span(limit), "this kind of LIMIT is not in the language", hint)
    return _count(text, limit.expression, "LIMIT", _LIMIT)


def qualified_count(text: Text, condition: exp.Expr, hint: str) -> tuple[exp.Expr, int]:
    """What a condition says is one of the first numbers, and up to which: `x <= 10` → x, 10."""
    while isinstance(condition, exp.Paren):
        condition = condition.this
    number: exp.Expr
    match condition:
        case exp.LTE() | exp.LT() | exp.EQ():
            number, bound = condition.this, condition.expression
        case exp.GTE() | exp.GT():
            number, bound = condition.expression, condition.this
        case _:
            raise text.error(node_span(condition), _FIRST, hint)
    if condition.args.get("negate") or isinstance(number, exp.Literal):
        raise text.error(node_span(condition), _FIRST, hint)
    is_below = isinstance(condition, exp.LT | exp.GT)
    count = _count(text, bound, "QUALIFY", hint, less=int(is_below))
    if isinstance(condition, exp.EQ) and count != 1:
        message = f"QUALIFY keeps all rows up to a number, not number {count} alone"
        raise text.error(node_span(condition), message, f"write <= {count}, or = 1")
    return number, count


def _count(text: Text, node: exp.Expr, clause: str, hint: str, less: int = 0) -> int:
    """A number of rows, of which there is one at least."""
    is_number = isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()
    if not is_number:
        message = f"{clause} needs a whole number, as it is written"
        text.note(text.error(node_span(node), message, hint))
        return 1
    count = int(node.name) - less
    if not 1 <= count <= _MOST:
        found = "no row would be left" if count < 1 else f"there are at most {_MOST} rows"
        text.note(text.error(node_span(node), f"{clause} {node.name}: {found}", hint))
        return 1
    return count
