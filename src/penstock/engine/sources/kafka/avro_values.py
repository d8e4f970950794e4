"""Values of records in Avro, as columns in the declared types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.timestamps import EARLIEST, LATEST
from penstock.engine.sources.kafka.avro_choices import chosen_wrongly, has_choices
from penstock.engine.sources.kafka.avro_library import library
from penstock.engine.sources.parsed import converted, misfit, shorten
from penstock.errors import SourceError
from penstock.query.families.spelling import spelled
from penstock.query.foreign.avro import digits_of, kinds_in, plain
from penstock.query.source import Field
from penstock.query.types import DataType

_MICROS_PER_DAY = 86_400_000_000
_BITS = {DataType.TINYINT: 8, DataType.SMALLINT: 16, DataType.INT: 32, DataType.BIGINT: 64}


def avro_values(
    fields: Sequence[Field],
    values: Sequence[bytes | None],
    known: Mapping[int, str],
    schema: str,
) -> tuple[dict[str, pa.Array], dict[int, str]]:
    """The columns of values, and their faults; rows whose faults are known are NULL."""
    faults: dict[int, str] = {}
    reader, read = reader_schema(schema), library().schemaless_reader
    rows: list[Mapping[str, Any]] = []
    chooses = has_choices(reader)
    for row, value in enumerate(values):
        rows.append({})
        if value is None or row in known:
            continue
        stream = BytesIO(value)
        try:
            rows[row] = read(stream, reader, None)
        except MemoryError:
            raise
        except Exception as error:  # The library has no error of its own for values of others.
            faults[row] = f"{shorten(value)} is not Avro of that schema: {_said(error)}"
            continue
        wrong = _leftover(stream, value)
        if wrong is None and chooses:
            wrong = chosen_wrongly(reader, value, rows[row])
        if wrong is not None:
            faults[row] = f"{shorten(value)} is not Avro of that schema: {wrong}"
            rows[row] = {}
    kinds = kinds_in(schema)
    # A name that is not there was refused when the schema was looked at.
    own = {field.name: spelled(field.name, kinds) or field.name for field in fields}
    columns = {
        field.name: _column(field, kinds[name], [r.get(name) for r in rows], faults)
        for field in fields
        for name in [own[field.name]]
    }
    return columns, faults


def _leftover(stream: BytesIO, value: bytes) -> str | None:
    left = len(value) - stream.tell()
    return f"{left} bytes are left over" if left else None


@lru_cache(maxsize=64)
def reader_schema(schema: str) -> Any:
    """A schema, ready to read by; a ValueError says what is wrong with it."""
    try:
        return library().parse_schema(plain(json.loads(schema)))
    except SourceError:
        raise
    except Exception as error:
        raise ValueError(_said(error)) from None


@lru_cache(maxsize=64)
def canonical(schema: str) -> str:
    """What a schema means, however it is written."""
    library()
    from fastavro.schema import to_parsing_canonical_form

    form: str = to_parsing_canonical_form(json.loads(schema))
    return form + json.dumps(kinds_in(schema))


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


def _column(field: Field, kind: str, values: list[Any], faults: dict[int, str]) -> pa.Array:
    """A column of plain values in its declared type."""
    if kind in ("string", "enum", "uuid"):
        return converted(field, pa.array(values, pa.large_string()), faults).cast(
            arrow_type(field.type)
        )
    if field.type.is_decimal:
        return _decimals(field, kind, values, faults)
    if field.type.is_temporal:
        return _moments(field, kind, values, faults)
    if field.type.is_integer:
        values = _within(field, values, 1 << (_BITS[field.type] - 1), faults)
    elif field.type.is_numeric:
        floats = [None if value is None else float(value) for value in values]
        return pa.array(floats, pa.float64()).cast(arrow_type(field.type))
    return pa.array(values, arrow_type(field.type))


def _within(field: Field, values: list[Any], bound: int, faults: dict[int, str]) -> list[Any]:
    """Whole numbers, NULL and a fault where they are too large for the type."""
    for row, value in enumerate(values):
        if value is not None and not -bound <= value < bound:
            faults.setdefault(row, misfit(field, value))
            values[row] = None
    return values


def _decimals(field: Field, kind: str, values: list[Any], faults: dict[int, str]) -> pa.Array:
    """Numbers in bytes, the highest first, as DECIMALs; too many digits are among the faults."""
    (precision, scale), after = field.type.digits, (digits_of(kind) or (0, 0))[1]
    found: list[Decimal | None] = [None] * len(values)
    for row, value in enumerate(values):
        if value is None:
            continue
        number = int.from_bytes(value, "big", signed=True)
        if value and abs(number) * 10 ** (scale - after) < 10**precision:
            # Digits as a text are taken as they are, in whatever context.
            found[row] = Decimal(f"{number}E-{after}")
        else:
            faults.setdefault(row, misfit(field, value))
    return pa.array(found, arrow_type(field.type))


def _moments(field: Field, kind: str, values: list[Any], faults: dict[int, str]) -> pa.Array:
    """Numbers since 1970 as times or days, those of years that there are not among the faults."""
    scale = {"date": _MICROS_PER_DAY, "timestamp-millis": 1000, "local-timestamp-millis": 1000}
    factor = scale.get(kind, 1)
    for row, value in enumerate(values):
        if value is not None and not EARLIEST <= value * factor <= LATEST:
            faults.setdefault(row, misfit(field, value))
            values[row] = None
    if field.type is DataType.DATE:
        return pa.array(values, pa.int32()).cast(pa.date32())
    micros = pc.multiply(pa.array(values, pa.int64()), np.int64(factor))
    return micros.cast(arrow_type(field.type))
