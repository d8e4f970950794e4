"""JOIN: what FROM joins and how, with the joins that EXISTS and IN ask for in WHERE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.text import Text
from penstock.cql.select.aggregates import asks_for_view

Kind = Literal["inner", "left", "right", "full", "semi", "anti"]

_JOIN_PARTS = {"this", "on", "kind", "side"}
_KINDS: dict[tuple[str, str], Kind] = {
    ("", ""): "inner",
    ("", "INNER"): "inner",
    ("", "CROSS"): "inner",
    ("LEFT", ""): "left",
    ("LEFT", "OUTER"): "left",
    ("RIGHT", ""): "right",
    ("RIGHT", "OUTER"): "right",
    ("FULL", ""): "full",
    ("FULL", "OUTER"): "full",
    ("", "SEMI"): "semi",
    ("LEFT", "SEMI"): "semi",
    ("", "ANTI"): "anti",
    ("LEFT", "ANTI"): "anti",
}
_SUBQUERY_CLAUSES = {"expressions", "from_", "where", "kind"}


@dataclass(frozen=True)
class Joined:
    """One item of FROM after the first, or of an EXISTS or IN in WHERE.

    `on` are its conjuncts; of `x IN (SELECT y …)`, `equals` are x and y.
    """

    kind: Kind
    table: exp.Expr
    on: tuple[exp.Expr, ...] = ()
    equals: tuple[exp.Expr, exp.Expr] | None = None


@dataclass(frozen=True)
class From:
    """All that a SELECT reads: the first item, what is joined to it, and what WHERE says beside."""

    first: exp.Expr
    joined: tuple[Joined, ...]
    where: tuple[exp.Expr, ...]

    @property
    def tables(self) -> tuple[exp.Expr, ...]:
        return (self.first, *(each.table for each in self.joined))


def read_from(text: Text, tree: exp.Expr) -> From:
    """The joins of a SELECT, in the order in which they are written."""
    joined = [_joined(text, join) for join in tree.args.get("joins") or ()]
    where: list[exp.Expr] = []
    for conjunct in conjuncts(tree.args["where"].this) if tree.args.get("where") else ():
        with text.forgiving():
            asked = _asked(text, conjunct)
            if asked is None:
                where.append(conjunct)
            else:
                joined.append(asked)
    read = From(tree.args["from_"].this, tuple(joined), tuple(where))
    _refuse_others(text, tree, read)
    return read


def _refuse_others(text: Text, tree: exp.Expr, read: From) -> None:
    """Refuse a SELECT that is in neither of the places where one may stand."""
    for select in tree.find_all(exp.Select):
        is_read = any(select is each.table.find_ancestor(exp.Select) for each in read.joined)
        if select is not tree and not is_read:
            message = "this SELECT is not a condition of WHERE by itself"
            hint = "EXISTS (…) and IN (…) stand in WHERE, tied to other conditions by AND alone"
            text.note(text.error(node_span(select), message, hint))


def _joined(text: Text, join: exp.Expr) -> Joined:
    extras = {name for name, value in join.args.items() if value} - _JOIN_PARTS
    words = (str(join.args.get("side") or ""), str(join.args.get("kind") or ""))
    kind = _KINDS.get((words[0].upper(), words[1].upper()))
    if extras or kind is None:
        hint = "write JOIN stream [RANGE 10 SECONDS] ON a.x = b.x"
        text.note(text.error(node_span(join), "this join is not in the language", hint))
        kind = "inner"
    on = join.args.get("on")
    return Joined(kind, join.this, tuple(conjuncts(on)) if on else ())


def conjuncts(root: exp.Expr) -> Iterator[exp.Expr]:
    """The conjuncts of a condition; BETWEEN is two, so that each can be checked early."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Paren):
            pending.append(node.this)
        elif isinstance(node, exp.And):
            pending += [node.expression, node.this]
        elif isinstance(node, exp.Between) and not node.args.get("symmetric"):
            yield exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
            yield exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        else:
            yield node


# ── EXISTS and IN ─────────────────────────────────────────────────────────────────────────────────


def _asked(text: Text, conjunct: exp.Expr) -> Joined | None:
    """The join that an EXISTS or IN asks for; None of all other conditions."""
    is_not = isinstance(conjunct, exp.Not)
    node = conjunct.this if is_not else conjunct
    while isinstance(node, exp.Paren):
        node = node.this
    is_not = is_not or bool(node.args.get("negate"))
    if isinstance(node, exp.Exists):
        return _subquery(text, node.this, "anti" if is_not else "semi")
    if not isinstance(node, exp.In) or not node.args.get("query"):
        return None
    if is_not:
        hint = "write NOT EXISTS (SELECT … WHERE …): NOT IN is never true once a NULL is among them"
        raise text.error(node_span(node), "NOT IN (SELECT …) is not in the language", hint)
    select = node.args["query"].this
    asked = _subquery(text, select, "semi")
    if len(select.expressions) != 1 or isinstance(select.expressions[0], exp.Star):
        hint = "write x IN (SELECT y FROM …)"
        raise text.error(node_span(select), "IN compares with one column", hint)
    (column,) = select.expressions
    of = column.this if isinstance(column, exp.Alias) else column
    return Joined(asked.kind, asked.table, asked.on, (node.this, of))


def _subquery(text: Text, select: exp.Expr, kind: Kind) -> Joined:
    """A SELECT inside of EXISTS or IN as a join; what it selects does not matter."""
    clauses = {name for name, value in select.args.items() if value}
    is_plain = isinstance(select, exp.Select) and not asks_for_view(select)
    if not is_plain or clauses - _SUBQUERY_CLAUSES or "from_" not in clauses:
        hint = "write EXISTS (SELECT 1 FROM auction [RANGE 1 HOUR] AS a WHERE a.id = b.auction)"
        raise text.error(node_span(select), "this SELECT is more than FROM and WHERE", hint)
    where = select.args.get("where")
    on = tuple(conjuncts(where.this)) if where else ()
    return Joined(kind, select.args["from_"].this, on)
