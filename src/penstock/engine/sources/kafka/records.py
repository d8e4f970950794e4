"""Records of a topic as tuples: a slice of a partition is read, parsed, and its faults named."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.engine.sources.kafka.fetch import fetched
from penstock.engine.sources.kafka.run import Run
from penstock.engine.sources.kafka.schema_log import slice_schema
from penstock.engine.sources.kafka.values import parse_run
from penstock.engine.sources.lines import text_of
from penstock.engine.sources.member_rows import with_members
from penstock.engine.sources.parsed import Located, Parsed, requested
from penstock.engine.sources.read import Block, blocks_of
from penstock.engine.sources.slices import Slice
from penstock.engine.state.frontier import part_name
from penstock.query.members import whole_columns
from penstock.query.source import Field, Source


def read_records(
    source: Source, columns: Collection[str], piece: Slice, hints: Collection[str] = ()
) -> Iterator[Records]:
    """The sound records of a slice, with their offsets; `hints` as in `read_file`."""
    where = part_name(str(source.option("topic")), str(piece.number))
    fields, strict = requested(source, {*columns, *hints}), requested(source, columns)
    schema = slice_schema(source, piece)
    told = {field.name.lower() for field in fields if field.record_type is not None}
    for run in fetched(source, piece, told):
        parsed = _asked(source, fields, run, schema)
        if parsed.faults and fields != strict:
            faults = _asked(source, strict, run, schema).faults
            parsed = replace(parsed, faults=faults)
        for block in blocks_of(source, where, parsed, 0, piece.latest):
            rows = np.arange(len(block.batch)) + block.first_row
            places = rows if block.rows is None else block.rows.to_numpy()
            yield Records(block, run.offsets[places])


@dataclass(frozen=True)
class Records:
    """Records as rows, and the offset of each."""

    block: Block
    offsets: np.ndarray[Any, np.dtype[np.int64]]


def _asked(source: Source, fields: Sequence[Field], run: Run, schema: str | None) -> Parsed:
    """The columns that are asked for, also those that are parts of others."""
    return with_members(fields, _parsed(source, whole_columns(source, fields), run, schema))


def _parsed(source: Source, wanted: Sequence[Field], run: Run, schema: str | None) -> Parsed:
    """The values of records in the declared types, with what the records themselves tell."""
    fields = [field for field in wanted if field.record_type is None]
    faults: dict[int, str] = {}
    columns = {field.name: run.column(field, faults) for field in wanted if field not in fields}
    if fields:
        values = parse_run(source, fields, run, schema)
        columns |= values.columns
        faults |= values.faults
    batch = pa.record_batch({field.name: columns[field.name] for field in wanted})
    return Parsed(batch, faults, partial(_located, run))


def _located(run: Run, rows: Collection[int]) -> Mapping[int, Located]:
    values = run.values
    return {
        row: Located("offset", int(run.offsets[row]), text_of(values[row] or b"")) for row in rows
    }
