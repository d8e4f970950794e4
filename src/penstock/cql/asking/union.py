"""UNION ALL: the results of several queries as one stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.cql.asking.ask import Ask
from penstock.cql.reading.text import Text
from penstock.query.expression import Column, as_type
from penstock.query.query import Input, Query
from penstock.query.script import Member, derived_source
from penstock.query.source import Source
from penstock.query.types import DataType, common_type
from penstock.query.view import TIME, Output
from penstock.query.window import NOW


def united(text: Text, ask: Ask, branches: Sequence[Member]) -> tuple[list[Member], Source]:
    """The branches with columns of the same names and types, those of the first, and the stream of
    all their results."""
    first = branches[0].query.outputs
    for branch in branches[1:]:
        if len(branch.query.outputs) != len(first):
            message = f"UNION ALL joins {len(first)} columns to {len(branch.query.outputs)}"
            raise text.error(ask.place, message, "select as many columns in each")
    types = [_type(text, ask, branches, n) for n in range(len(first))]
    names = [output.name for output in first]
    alike = [_with_outputs(branch, names, types) for branch in branches]
    source = derived_source(ask.name, alike[0].query)
    return alike, replace(source, makers=tuple(branch.name for branch in branches))


def _type(text: Text, ask: Ask, branches: Sequence[Member], number: int) -> DataType:
    outputs = [branch.query.outputs[number] for branch in branches]
    wide: DataType = outputs[0].expression.type
    for output in outputs[1:]:
        wider = common_type(wide, output.expression.type)
        if wider is None:
            name, other = outputs[0].name, output.expression.type
            message = f"column {name} of UNION ALL is {wide} in one SELECT and {other} in another"
            raise text.error(ask.place, message, "convert one of them: CAST(… AS TYPE)")
        wide = wider
    return wide


def _with_outputs(branch: Member, names: Sequence[str], types: Sequence[DataType]) -> Member:
    outputs = tuple(
        Output(name, as_type(output.expression, type_))
        for name, type_, output in zip(names, types, branch.query.outputs, strict=True)
    )
    return replace(branch, query=replace(branch.query, outputs=outputs))


def passing(source: Source, text: str) -> Query:
    """A query that gives every tuple of a stream of results, as it is."""
    item = Input(source.name, source, NOW)
    fields = (field for field in source.fields if field.name != TIME)
    outputs = tuple(Output(f.name, Column(item.alias, f.name, f.type)) for f in fields)
    return Query((item,), outputs, text=text)
