"""What a SELECT says of its first rows: ORDER BY … LIMIT, or QUALIFY ROW_NUMBER() OVER (…)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.text import Span, Text
from penstock.cql.select.ranking.counts import limit_count, qualified_count, refuse_offset

_NUMBERED = "ROW_NUMBER() OVER (PARTITION BY … ORDER BY …)"
_KEEP = f"write QUALIFY {_NUMBERED} <= 10"
_OTHERS = {"RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE"}


@dataclass(frozen=True)
class Ranking:
    """The first rows that are asked for, as they are written.

    `numbers` are the items of SELECT that are the number of a row. In the `order` of LIMIT, names
    of the SELECT list go before columns; OVER is read like the other clauses.
    """

    count: int
    order: tuple[exp.Expr, ...]
    parts: tuple[exp.Expr, ...]
    numbers: tuple[exp.Expr, ...]
    is_limit: bool
    place: Span

    @property
    def nodes(self) -> tuple[exp.Expr, ...]:
        """What rows are parted and ordered by."""
        return (*self.parts, *(item.this for item in self.order))


def aliases_of(tree: exp.Expr) -> dict[str, exp.Expr]:
    """What the names of the SELECT list stand for, in lower case."""
    return {node.alias.lower(): node.this for node in tree.expressions if node.alias}


def ranking_of(text: Text, tree: exp.Expr) -> Ranking | None:
    """What is said of the first rows, if anything is."""
    numbers = tuple(_numbers(text, tree))
    if tree.args.get("qualify"):
        return _qualified(text, tree, numbers)
    if numbers:
        hint = f"keep the first of them: {_KEEP.removeprefix('write ')}"
        raise text.error(node_span(numbers[0]), "ROW_NUMBER() needs QUALIFY", hint)
    return _limited(text, tree)


# ── ORDER BY … LIMIT ──────────────────────────────────────────────────────────────────────────────


def _limited(text: Text, tree: exp.Expr) -> Ranking | None:
    order: exp.Expr | None = tree.args.get("order")
    limit: exp.Expr | None = tree.args.get("limit")
    refuse_offset(text, tree)
    if limit is None:
        if order is None:
            return None
        hint = "leave it out and sort where the results are read, or add LIMIT 10"
        message = "ORDER BY needs LIMIT: results have no order"
        text.note(text.error(node_span(order), message, hint))
        return None
    count = limit_count(text, limit)
    if order is None:
        hint = "say which rows are the first: ORDER BY price DESC LIMIT 10"
        text.note(text.error(node_span(limit), "LIMIT needs ORDER BY", hint))
        return Ranking(count, (), (), (), True, node_span(limit))
    place = (node_span(order)[0], node_span(limit)[1])
    return Ranking(count, _items(text, order), (), (), True, place)


def _items(text: Text, order: exp.Expr) -> tuple[exp.Expr, ...]:
    for item in order.expressions:
        if item.args.get("with_fill"):
            raise text.error(node_span(item), "WITH FILL is not in the language", "leave it out")
    return tuple(order.expressions)


# ── QUALIFY ROW_NUMBER() OVER (…) ─────────────────────────────────────────────────────────────────


def _numbers(text: Text, tree: exp.Expr) -> Iterator[exp.Expr]:
    """The items of SELECT that are ROW_NUMBER() OVER (…) and nothing else."""
    alone = [node.this if isinstance(node, exp.Alias) else node for node in tree.expressions]
    for window in (found for node in tree.expressions for found in node.find_all(exp.Window)):
        _refuse_ranks(text, window)
        if _name(window) != "ROW_NUMBER":
            continue
        if not any(window is node for node in alone):
            hint = "name it, and compute where the results are read: ROW_NUMBER() OVER (…) AS place"
            raise text.error(node_span(window), "ROW_NUMBER() stands in SELECT by itself", hint)
        yield window


def _qualified(text: Text, tree: exp.Expr, numbers: tuple[exp.Expr, ...]) -> Ranking:
    clause = tree.args["qualify"]
    for name in ("order", "limit"):
        if tree.args.get(name):
            hint = "keep one of them; the other is for a query that reads this one"
            place = node_span(tree.args[name])
            raise text.error(place, "QUALIFY does not go with ORDER BY and LIMIT", hint)
    for window in clause.find_all(exp.Window):
        _refuse_ranks(text, window)
    number, count = qualified_count(text, clause.this, _KEEP)
    if isinstance(number, exp.Column) and not number.table:
        number = aliases_of(tree).get(number.name.lower(), number)
    if not isinstance(number, exp.Window) or _name(number) != "ROW_NUMBER":
        message = "QUALIFY keeps the first rows, by their ROW_NUMBER()"
        raise text.error(
            node_span(clause.this), message, f"{_KEEP}, and other conditions in HAVING"
        )
    for other in numbers:
        if other != number:
            hint = "name it: ROW_NUMBER() OVER (…) AS place … QUALIFY place <= 10"
            message = "SELECT and QUALIFY number the rows in two ways"
            raise text.error(node_span(other), message, hint)
    order = _order(text, number)
    parts = tuple(number.args.get("partition_by") or ())
    return Ranking(count, _items(text, order), parts, numbers, False, node_span(clause))


def _order(text: Text, window: exp.Window) -> exp.Expr:
    """The ORDER BY of OVER (…), which has that and PARTITION BY alone."""
    if window.args.get("spec") or window.args.get("alias") or window.this.expressions:
        hint = f"write {_NUMBERED}"
        raise text.error(node_span(window), "OVER has PARTITION BY and ORDER BY alone", hint)
    order: exp.Expr | None = window.args.get("order")
    if order is None:
        hint = f"say which row is the first: {_NUMBERED}"
        raise text.error(node_span(window), "ROW_NUMBER() needs an ORDER BY", hint)
    return order


def _name(window: exp.Window) -> str:
    return window.this.name.upper() if isinstance(window.this, exp.Anonymous) else ""


def _refuse_ranks(text: Text, window: exp.Window) -> None:
    name = _name(window)
    if name in _OTHERS:
        hint = f"write {_NUMBERED}: of rows that are equal in the order each has its own number"
        raise text.error(node_span(window), f"{name}() is not in the language", hint)
