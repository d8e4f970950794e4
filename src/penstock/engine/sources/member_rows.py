"""Parts of columns as columns: members of STRUCTs, items of ARRAYs, values of MAPs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.sources.parsed import Ask, Parsed
from penstock.query.members import whole_columns
from penstock.query.source import Field, Step


def asked_whole(ask: Ask) -> Ask:
    """The declared columns to be read for what is asked; hints are those that are nothing else."""
    if not has_members(ask.fields):
        return ask
    fields = whole_columns(ask.source, ask.fields)
    decisive = whole_columns(ask.source, (f for f in ask.fields if f.name not in ask.hints))
    needed = {field.name for field in decisive}
    return replace(
        ask, fields=fields, hints=frozenset(f.name for f in fields if f.name not in needed)
    )


def has_members(fields: Collection[Field]) -> bool:
    """Whether any of these is a part of another column."""
    return any(field.path for field in fields)


def with_members(fields: Sequence[Field], parsed: Parsed, hints: Collection[str] = ()) -> Parsed:
    """Rows of whole columns as rows of what was asked for; an item that is not there is a fault."""
    if not has_members(fields):
        return parsed
    faults = dict(parsed.faults)
    columns = []
    for field in fields:
        found: dict[int, str] = {}
        columns.append(_column(field, parsed.batch, found))
        if field.name not in hints:
            faults = found | faults
    batch = pa.record_batch(columns, names=[field.name for field in fields])
    return replace(parsed, batch=batch, faults=faults)


def _column(field: Field, batch: pa.RecordBatch, faults: dict[int, str]) -> pa.Array:
    if not field.path:
        return batch.column(field.name)
    (_, name), *steps = field.path
    values = batch.column(str(name))
    for step in steps:
        values = _inside(field, values, step, faults)
    return values


def _inside(field: Field, values: pa.Array, step: Step, faults: dict[int, str]) -> pa.Array:
    match step:
        case "member", name:
            return pc.struct_field(values, [name])
        case "key", key:
            return pc.map_lookup(values, pa.scalar(key, values.type.key_type), "first")
        case "item", int() as index:
            return _item(field, values, index, faults)
        case _, index:
            return _item(field, values, int(index), None)


def _item(field: Field, values: pa.Array, index: int, faults: dict[int, str] | None) -> pa.Array:
    lengths = pc.list_value_length(values).fill_null(index + 1).to_numpy()
    there = (lengths > index) & values.is_valid().to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(lengths <= index) if faults is not None else ():
        assert faults is not None
        few = f"the array has {lengths[row]} items"
        faults.setdefault(int(row), f"there is no {field.name}: {few} (GET gives NULL there)")
    items = pc.list_element(values.filter(pa.array(there)), index)
    return items.take(pa.array(np.cumsum(there) - 1, mask=~there))
