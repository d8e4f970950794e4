"""FROM: which sources are read, under which alias and window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.names import check_name
from penstock.cql.reading.nearest import listed, nearest
from penstock.cql.reading.scope import unknown_source
from penstock.cql.reading.text import Span, Text
from penstock.cql.select.windows import MISTAKEN, Bracket
from penstock.errors import FollowingError, SqlError
from penstock.query.query import Input
from penstock.query.ranking import NUMBER_TEXT
from penstock.query.source import CAST_IT, Source
from penstock.query.window import RowsWindow, Window


def bind_inputs(
    text: Text,
    items: Sequence[exp.Expr],
    brackets: Sequence[Bracket],
    sources: Mapping[str, Source],
    *,
    is_view: bool,
) -> tuple[Input, ...]:
    """The inputs of a SELECT, in the order of FROM; of a view, all may be views as they are."""
    tables = [_table(text, item) for item in items]
    _check_brackets(text, tables, brackets)
    inputs = _inputs(text, tables, brackets, sources)
    if all(item.is_table for item in inputs):
        message = "FROM has only tables"
        hint = "a query reads at least one stream"
        text.note(text.error(node_span(tables[0]), message, hint))
    elif not is_view and all(item.is_table or item.is_relation for item in inputs):
        view = next(item.source for item in inputs if item.is_relation)
        message = "FROM has no stream, only views and tables as they are"
        hint = f"read the changes of one: {view.name} [NOW]; or group and aggregate"
        if view.is_kept:
            hint = "add a stream that meets it; or group and aggregate"
        text.note(text.error(node_span(tables[0]), message, hint))
    return tuple(inputs)


def _inputs(
    text: Text,
    tables: Sequence[exp.Table],
    brackets: Sequence[Bracket],
    sources: Mapping[str, Source],
) -> list[Input]:
    """The inputs of different names that tables of FROM are.

    Where all mistakes are looked for, one that cannot be understood has no columns.
    """
    inputs: list[Input] = []
    for table in tables:
        item = Input(_named(table).name, unknown_source(table.name), MISTAKEN)
        with text.forgiving():
            check_name(text, node_span(_named(table)), _named(table).name)
            found = _input(text, table, brackets, sources)
            _check_differs(text, table, found, inputs)
            text.marks[found.alias] = _whole_span(table, brackets)
            item = found
        inputs.append(item)
    return inputs


def _check_differs(text: Text, table: exp.Table, item: Input, others: Sequence[Input]) -> None:
    if any(item.alias.lower() == other.alias.lower() for other in others):
        hint = "give each its own alias: FROM bid [NOW] AS b1, bid [NOW] AS b2"
        message = f"two inputs are named {item.alias}"
        raise text.error(node_span(_named(table)), message, hint)


def _table(text: Text, item: exp.Expr) -> exp.Table:
    extras = {name for name, value in item.args.items() if value} - {"this", "alias"}
    alias = item.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        extras.add("columns")
    if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier) or extras:
        hint = "write the name of a stream or table: FROM bid [RANGE 10 SECONDS] AS b"
        raise text.error(node_span(item), "FROM cannot read this", hint)
    return item


def _named(table: exp.Table) -> exp.Expr:
    """The identifier by which the query calls the input."""
    alias = table.args.get("alias")
    named: exp.Expr = alias.this if alias else table.this
    return named


def _check_brackets(text: Text, tables: Sequence[exp.Table], brackets: Sequence[Bracket]) -> None:
    ends = {end for table in tables for end in _ends(table)}
    for bracket in brackets:
        if bracket.after not in ends:
            hint = "a window stands after a stream in FROM: bid [RANGE 10 SECONDS] AS b"
            text.note(text.error(bracket.span, "this window belongs to no stream", hint))


def _ends(table: exp.Table) -> set[int]:
    """Where a window of the input may follow: after its name, or after its alias."""
    return {node_span(table.this)[1], node_span(_named(table))[1]}


def _whole_span(table: exp.Table, brackets: Sequence[Bracket]) -> Span:
    """Where an input stands, with its window and its alias."""
    own = [bracket.span for bracket in brackets if bracket.after in _ends(table)]
    starts, ends = zip(node_span(table), *own, strict=True)
    return min(starts), max(ends)


def _input(
    text: Text, table: exp.Table, brackets: Sequence[Bracket], sources: Mapping[str, Source]
) -> Input:
    source = _source(text, table.this, sources)
    alias = table.args.get("alias")
    name = alias.name if alias else _called(table.name, source)
    own = [bracket for bracket in brackets if bracket.after in _ends(table)]
    if len(own) > 1:
        text.note(text.error(own[1].span, f"{name} has two windows", "keep one of them"))
    if (source.is_table or source.is_kept) and own:
        hint = "leave the window out; a table is always whole"
        text.note(text.error(own[0].span, f"{source.name} is a table, which has no window", hint))
        own = []
    if source.key is not None and not own:
        return _relation(text, table, name, source)
    if not source.is_table and not own:
        if source.fields:
            text.note(_windowless(text, table, source))
        return Input(name, source, MISTAKEN)
    return Input(name, source, _window(text, source, own[0]) if own else None)


def _called(written: str, source: Source) -> str:
    """The source as it is declared; as it is written, where only this query calls it so."""
    return source.name if written.lower() == source.name.lower() else written


def _relation(text: Text, table: exp.Table, name: str, source: Source) -> Input:
    """A view as it is: the last change of each of its rows."""
    assert source.key is not None
    if source.hidden is not None:
        message = f"the rows of {source.name} cannot be told apart: {source.hidden} is not selected"
        what = "the number of each row" if source.hidden == NUMBER_TEXT else "all groups"
        hint = f"select {what} of {source.name}, or read its changes: {source.name} [NOW]"
        text.note(text.error(node_span(table), message, hint))
    return Input(name, source, RowsWindow(1, source.key), is_relation=True)


def one_rows(
    text: Text, tree: exp.Expr, inputs: Sequence[Input], scalars: Sequence[Source]
) -> tuple[Input, ...]:
    """Views of one row inside of expressions, met as they are."""
    taken = {item.alias.lower() for item in inputs}
    for source in scalars:
        if source.name.lower() in taken:
            message = f"{source.name} is how the SELECT in an expression is called here"
            hint = "give the input of that name another alias"
            text.note(text.error(node_span(tree.args["from_"]), message, hint))
    return tuple(Input(each.name, each, RowsWindow(1), is_relation=True) for each in scalars)


def _source(text: Text, name: exp.Expr, sources: Mapping[str, Source]) -> Source:
    source = sources.get(name.name.lower())
    if source is None:
        # Those without columns are not understood themselves.
        names = [known.name for known in sources.values() if known.fields]
        otherwise = listed("sources", names) if names else "declare it with CREATE STREAM"
        hint = nearest(name.name, names, otherwise)
        raise text.error(node_span(name), f"there is no stream or table {name.name}", hint)
    return source


def _windowless(text: Text, table: exp.Table, source: Source) -> SqlError:
    hint = (
        f"write {source.name} [RANGE 10 SECONDS], "
        f"or {source.name} [UNBOUNDED] if state without bound is meant"
    )
    return text.error(node_span(table), f"stream {source.name} has no window", hint)


def _window(text: Text, source: Source, bracket: Bracket) -> Window:
    window, columns = bracket.window, list[str]()
    if isinstance(window, RowsWindow):
        for name, span in zip(window.partition_by, bracket.partition_by, strict=True):
            with text.forgiving():
                columns.append(_partition_column(text, source, name, span))
        window = replace(window, partition_by=tuple(columns))
    is_mistaken = bracket.is_mistaken or len(columns) < len(bracket.partition_by)
    return MISTAKEN if is_mistaken else window


def _partition_column(text: Text, source: Source, name: str, span: Span) -> str:
    """The column of that name, if a window may be partitioned by it."""
    field = next((each for each in source.fields if each.name.lower() == name.lower()), None)
    if field is None and not source.fields:
        message = f"the columns of {source.name} are not known"
        raise FollowingError(message, place=text.place(span))
    if field is None:
        declared = [each.name for each in source.fields]
        fault = source.unheld_fault(name)
        message = fault or f"{source.name} has no column {name}"
        hint = CAST_IT if fault else nearest(name, declared, listed("columns", declared))
        raise text.error(span, message, hint)
    if field.type.is_nested or not field.type.is_held:
        message = f"a window cannot be partitioned by {name}, which is {field.type}"
        raise text.error(span, message, "choose a column of numbers, text or times")
    return field.name
