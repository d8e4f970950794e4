"""Presence: the filters by which rows of views and tables that change are there.

The last change of a row is kept, whatever it was; one that takes the row away is filtered out.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from penstock.cql.reading.dialect import TokenType, parse_statement, tokenize
from penstock.cql.reading.scope import Scope
from penstock.cql.reading.text import Text
from penstock.cql.select.binding import bind_condition
from penstock.errors import SqlError
from penstock.query.expression import Call, Column, Expression, Literal
from penstock.query.query import Condition, Input
from penstock.query.types import DataType
from penstock.query.view import CHANGE, UPSERT


def of_rows_there(scope: Scope) -> tuple[Condition, ...]:
    """The filters of all relations in scope."""
    views = [item for item in scope.inputs if item.is_relation and not item.source.is_kept]
    return (*map(_of_view, views), *_of_tables(scope))


def _of_view(item: Input) -> Condition:
    change = Column(item.alias, CHANGE, DataType.STRING)
    sides = (change, Literal(UPSERT, DataType.STRING))
    return Condition(Call("eq", sides, DataType.BOOLEAN))


def _of_tables(scope: Scope) -> tuple[Condition, ...]:
    """The filters by which the last upsert of a key is a row, unless it takes the row away."""
    kept = [item for item in scope.inputs if item.is_relation and item.source.delete is not None]
    return tuple(_is_there(_deletes(scope, item)) for item in kept)


def _is_there(deletes: Expression) -> Condition:
    """That a condition is not true; one that is NULL takes nothing away."""
    known = Call("coalesce", (deletes, Literal(False, DataType.BOOLEAN)), DataType.BOOLEAN)
    return Condition(Call("not", (known,), DataType.BOOLEAN))


def _deletes(scope: Scope, item: Input) -> Expression:
    """The condition of `delete` over the columns of an input; its faults are the option's."""
    text = Text(f"SELECT {item.source.delete}", "delete")
    try:
        own = replace(scope, text=text, inputs=(item,), aliases={}, aggregates={}, scalars=())
        return bind_condition(own, _condition(text), "delete")
    except SqlError as error:
        message = f"delete cannot be read: {error.message}"
        raise SqlError(message, place=item.source.places["delete"], hint=error.hint) from None


def _condition(text: Text) -> exp.Expr:
    tokens = tokenize(text)
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise _misfit(text, "it is not one condition")
    tree = parse_statement(text, tokens)
    clauses = {name for name, clause in tree.args.items() if clause}
    if clauses != {"expressions"} or len(tree.expressions) != 1:
        raise _misfit(text, "it is not one condition")
    if tree.find(exp.Column) is None:
        raise _misfit(text, "it reads no column")
    condition: exp.Expr = tree.expressions[0]
    return condition


def _misfit(text: Text, message: str) -> SqlError:
    return text.error((0, len(text.content)), message, "write it like delete = 'op = ''D'''")
