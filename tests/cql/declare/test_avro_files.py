"""Avro schemas and the columns of a stream: what fits, and what is refused with a caret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.cql.script import parse
from penstock.errors import SqlError
from penstock.query.foreign.avro import held_in, kinds_in
from penstock.query.source import SCHEMA_TEXT
from penstock.query.types import DataType

DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
HUGE, ODD = {**DECIMAL, "precision": 39}, {**DECIMAL, "scale": 10}
"""More digits than a column has; more after the point than there are, which counts as none."""


def record(**kinds: Any) -> str:
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    return json.dumps({"type": "record", "name": "r", "namespace": "n.s", "fields": fields})


def declared(folder: Path, schema: str, columns: str) -> str | int | float | bool | None:
    file = folder / "r.avsc"
    file.write_text(schema, encoding="utf-8")
    text = (
        f"CREATE STREAM a (ts TIMESTAMP, {columns}) WITH (format = 'kafka', servers = 'h:1', "
        f"topic = 'a', timestamp = 'ts', value = 'avro', schema = '{file}');"
        "SELECT a.ts FROM a [RANGE 1 MINUTE];"
    )
    return parse(text).sources["a"].option(SCHEMA_TEXT)


TIME = {"type": "long", "logicalType": "timestamp-millis"}


def test_fields_that_are_not_declared_may_be_of_any_kind(tmp_path: Path) -> None:
    schema = record(ts=TIME, x=["null", "int"], d=DECIMAL, m={"type": "map", "values": "int"})
    columns = "x BIGINT, Kafka_Key STRING"
    assert declared(tmp_path, schema, columns) == schema


@pytest.mark.parametrize(
    ("schema", "columns", "message"),
    [
        ("{", "x INT", "is no schema: it is not JSON"),
        ("[" * 100_000, "x INT", "is no schema: it is not JSON"),
        ('"string"', "x INT", "is no schema: it is not the schema of a record"),
        ('{"type": "record", "name": "r"}', "x INT", "its fields are not a list"),
        (record(), "x INT", "has no field ts, which a declares"),
        (record(ts=TIME, y="int"), "x INT", "has no field x, which a declares"),
        (record(ts=TIME, x="string"), "x INT", "has x as string, which is not a INT"),
        (record(ts=TIME, x="bytes"), "x STRING", "has x as bytes, which is not a STRING"),
        (record(ts=TIME, x=DECIMAL), "x DOUBLE", r"x as decimal\(9, 2\), which is not a DOUBLE"),
        (record(ts=TIME, x=DECIMAL), "x DECIMAL(9, 1)", r"which is not a DECIMAL\(9, 1\)"),
        (record(ts=TIME, x=HUGE), "x DECIMAL(38, 2)", r"x as decimal\(39, 2\), which cannot be"),
        (record(ts=TIME, x=ODD), "x DECIMAL(9, 2)", r"has x as bytes, which is not a DECIMAL"),
        (record(ts=TIME, x=["int", "string"]), "x INT", "has x as union, which cannot be read"),
        (record(ts="string", x="int"), "x STRING", "has x as int, which is not a STRING"),
        (record(ts="boolean", x="int"), "x INT", "has ts as boolean, which is not a TIMESTAMP"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_schema(
    schema: str, columns: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        declared(tmp_path, schema, columns)
    place = caught.value.place
    assert place is not None
    assert place.text[place.start : place.end].endswith("r.avsc'")


def test_kinds_are_found_behind_names_and_unions() -> None:
    color = {"type": "enum", "name": "color", "symbols": ["red"]}
    schema = record(a=color, b="color", c=["null", "n.s.color"], d=[TIME, "null"], e={"type": TIME})
    assert kinds_in(schema) == {
        "a": "enum",
        "b": "enum",
        "c": "enum",
        "d": "timestamp-millis",
        "e": "timestamp-millis",
    }
    elsewhere = record(a={**color, "namespace": "other"}, c=["null", "other.color"])
    assert kinds_in(elsewhere)["c"] == "enum"
    cents = {"type": "fixed", "size": 4, "name": "cents", "logicalType": "decimal", "precision": 9}
    assert kinds_in(record(a=["null", cents], b="cents")) == dict.fromkeys("ab", "decimal(9, 0)")
    assert held_in("decimal(9, 2)") == {DataType("DECIMAL(9, 2)")}
    assert held_in("enum") == {DataType.STRING}
    assert held_in("map") == frozenset()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("value = 'avro'", "stream a has no schema"),
        ("value = 'xml'", "value must be 'json', 'csv' or 'avro'"),
        ("schema = 'r.avsc'", "schema belongs to value = 'avro'"),
        (
            "value = 'avro', schema = 'r.avsc', delimiter = ';'",
            "delimiter belongs to value = 'csv'",
        ),
        ("null = 'NA'", "null belongs to value = 'csv'"),
        ("header = TRUE", "format kafka has no option header"),
        ("registry_header = 5", "registry_header must be TRUE or FALSE"),
    ],
)
def test_options_of_values_belong_to_their_kind(options: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        parse(
            "CREATE STREAM a (ts TIMESTAMP) WITH (format = 'kafka', servers = 'h:1', topic = 'a', "
            f"timestamp = 'ts', {options}); SELECT a.ts FROM a [RANGE 1 MINUTE];"
        )


def test_fields_match_in_any_case_and_the_exact_one_goes_first(tmp_path: Path) -> None:
    for schema in (record(TS=TIME, X="int"), record(ts=TIME, X="string", x="int")):
        assert declared(tmp_path, schema, "x INT") == schema
    with pytest.raises(SqlError, match="XX and xX differ in case alone") as caught:
        declared(tmp_path, record(ts=TIME, XX="int", xX="int"), "xx INT")
    assert caught.value.place is not None
