"""The language page: its examples are queries, and it leaves nothing out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from penstock.api import ContinuousQuery
from penstock.cql import parse, parse_script
from penstock.cql.declare.options import FORMATS, OPTIONS, READER
from penstock.cql.expressions.functions import AGGREGATES, SIGNATURES
from penstock.cql.expressions.types import TYPE_NAMES
from penstock.duration import UNITS
from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.sinks.sink import parquet
from penstock.engine.sources.made.distributions import FORMS, check, draw, parse_values
from penstock.errors import SqlError
from penstock.query import DataType, Field, Input, Query, Source
from penstock.query.types import PLAIN_TYPES
from penstock.query.window import NOW
from penstock.stats.guess import complete
from reference import Row, answer, view_changes
from support.engines.script_runs import expected, found, opened
from support.paths import ROOT
from support.streams.cases import arrival, canonical
from support.streams.scripts import ScriptCase, reading

PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
FIRST, *REST = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
DISTRIBUTIONS = (*re.findall(r"(\w+)\(", FORMS), "sequence")
DECLARATIONS = FIRST[: FIRST.index("SELECT")]
# A SELECT behind EXISTS or IN is a join, and no query of its own.
INNER = re.compile(r"AS\s+\(?SELECT|(?<!EXISTS )(?<!IN )\(SELECT|UNION ALL")
SCRIPTS = [each for each in REST if INNER.search(each)]
OTHERS = [each for each in REST if each not in SCRIPTS]


def test_the_first_example_is_a_query_over_two_streams_and_a_table() -> None:
    query = parse(FIRST)
    assert [item.alias for item in query.streams] == ["b", "a"]
    assert len(query.equalities) == 2
    assert len(query.thetas) == 1


@pytest.mark.parametrize("example", OTHERS)
def test_every_other_example_is_a_query_or_declares_a_stream(example: str) -> None:
    declared = re.findall(r"CREATE STREAM (\w+)", example)
    select = f"SELECT * FROM {declared[0]} [NOW]" if declared else ""
    query = parse(DECLARATIONS + example + select)
    assert query.outputs
    assert not declared or query.inputs[0].source.name == declared[0]


def as_parquet(query: Query, folder: Path) -> Query:
    """The query with all sources in small parquet files: three rows, a second apart."""
    sources: dict[str, Source] = {}
    for item in query.inputs:
        source = item.source
        place = folder / source.name
        place.mkdir(exist_ok=True)
        columns = {f.name: pa.array([0, 1, None]).cast(pa.int32()) for f in source.fields}
        table = pa.table({f.name: _values(source, f, columns[f.name]) for f in source.fields})
        pq.write_table(table, place / "rows.parquet")
        sources[source.name] = replace(source, format="parquet", path=str(place), options=())
    inputs = tuple(replace(item, source=sources[item.source.name]) for item in query.inputs)
    return replace(query, inputs=inputs)


def _values(source: Source, field: Field, small: pa.Array) -> pa.Array:
    if field.name == source.timestamp:
        small = pa.array([1, 2, 3], pa.int64())
        whole = pc.multiply(small, 1_000_000) if field.type is DataType.TIMESTAMP else small
        return whole.cast(arrow_type(field.type))
    if field.type is DataType.TIMESTAMP:
        small = small.cast(pa.int64())
    return small.cast(arrow_type(field.type))


QUERIES = [example for example in OTHERS if "CREATE" not in example]
ASKS_FOR_VIEW = re.compile(r"\b(COUNT|SUM|AVG|MIN|MAX)\(|SELECT DISTINCT|QUALIFY")
VIEWS = [query for query in QUERIES if ASKS_FOR_VIEW.search(query)]


def test_views_are_told_by_their_words() -> None:
    assert [query for query in QUERIES if parse(DECLARATIONS + query).view] == VIEWS


@pytest.mark.parametrize("example", VIEWS)
def test_every_view_has_rows_in_the_reference(example: str, tmp_path: Path) -> None:
    query = as_parquet(parse(DECLARATIONS + example), tmp_path)
    changes = view_changes(query, {item.alias: [_rows(item)] for item in query.inputs})
    assert query.view is not None
    # With so few rows a HAVING that asks for many leaves nothing.
    assert bool(changes) == (query.view.having is None)


@pytest.mark.parametrize("example", [FIRST, *(q for q in QUERIES if q not in VIEWS)])
def test_every_query_runs_as_the_reference_says(example: str, tmp_path: Path) -> None:
    text = example if "CREATE" in example else DECLARATIONS + example
    query = as_parquet(parse(text), tmp_path)
    run = ContinuousQuery(query, complete(query)).local(
        sink=parquet(tmp_path / "out"), checkpoint=str(tmp_path / "state")
    )
    run.available_now(drain=True)
    files = list((tmp_path / "out").glob("*.parquet"))
    found = [tuple(r.values()) for f in files for r in pq.read_table(f).to_pylist()]
    batches = {item.alias: [_rows(item)] for item in query.inputs}
    assert canonical(found) == canonical(answer(query, batches))


@pytest.mark.parametrize("example", SCRIPTS)
def test_every_script_runs_as_the_reference_says(example: str, tmp_path: Path) -> None:
    script = parse_script(DECLARATIONS + example)
    assert len(script.members) > 1
    items = [Input(s.name, s, None if s.is_table else NOW) for s in script.sources.values()]
    written = as_parquet(Query(tuple(items), ()), tmp_path)
    case = ScriptCase(
        reading(script, written.sources), {i.source.name: [_rows(i)] for i in written.inputs}
    )
    opened(case.script, tmp_path).available_now(drain=True)
    told = found(case.script, tmp_path)
    assert told == expected(case)
    assert set(told) == {member.name for member in script.shown}


def _rows(item: Input) -> list[Row]:
    source = item.source
    assert source.path is not None
    listed = pq.read_table(Path(source.path) / "rows.parquet").to_pylist()
    scale = {"us": 1, "ms": 1_000, "s": 1_000_000, None: 1_000_000}[source.unit]
    return [Row((n + 1) * scale, arrival(0, n), row) for n, row in enumerate(listed)]


@pytest.mark.parametrize(
    "name",
    [
        *(option.name for option in OPTIONS.values()),
        *(f"'{format_}'" for format_ in FORMATS if format_ != "spark"),
        f"'{READER}",
        *(f"{name.upper()}(" for name in (*SIGNATURES, *AGGREGATES)),
        *(f"{name}(" for name in DISTRIBUTIONS),
        *TYPE_NAMES,
        *(unit.upper() for unit in UNITS if unit.endswith("seconds")),
    ],
)
def test_every_option_format_function_type_and_unit_is_on_the_page(name: str) -> None:
    assert re.search(rf"`[^`\n]*{re.escape(name)}[^`\n]*`", PAGE)


def test_the_made_up_stream_of_the_page_can_be_drawn() -> None:
    example = next(text for text in OTHERS if "choice(" in text)
    source = parse(example + ";SELECT * FROM made [NOW]").inputs[0].source
    drawn = parse_values(str(source.option("values")))
    for field in source.fields:
        if field.name != source.timestamp:
            check(drawn[field.name], field)
            assert len(draw(drawn[field.name], field, 3, np.random.default_rng(1), 0)) == 3


def test_there_are_no_types_but_those_on_the_page() -> None:
    assert set(TYPE_NAMES.values()) == set(PLAIN_TYPES)


def test_the_error_on_the_page_is_the_one_that_is_given() -> None:
    shown = PAGE.rsplit("```\n", 2)[1]
    select = "SELECT b.price\nFROM bid AS b, auction [RANGE 1 HOUR] AS a\nWHERE b.auction = a.id\n;"
    with pytest.raises(SqlError) as caught:
        parse(select + DECLARATIONS, "auction.cql")
    assert str(caught.value) + "\n" == shown
