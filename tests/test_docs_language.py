"""The language page: its examples are queries, and it leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.query import DataType
from penstock.sql import parse
from penstock.sql.duration import UNITS
from penstock.sql.functions import SIGNATURES
from penstock.sql.options import FORMATS, OPTIONS
from penstock.sql.types import TYPE_NAMES

PAGE = (Path(__file__).parent.parent / "docs" / "language.md").read_text(encoding="utf-8")
FIRST, *OTHERS = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
DECLARATIONS = FIRST[: FIRST.index("SELECT")]


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


@pytest.mark.parametrize(
    "name",
    [
        *OPTIONS,
        *(f"'{format_}'" for format_ in FORMATS),
        *(f"{name.upper()}(" for name in SIGNATURES),
        *TYPE_NAMES,
        *(unit.upper() for unit in UNITS if unit.endswith("seconds")),
    ],
)
def test_every_option_format_function_type_and_unit_is_on_the_page(name: str) -> None:
    assert re.search(rf"`[^`\n]*{re.escape(name)}[^`\n]*`", PAGE)


def test_there_are_no_types_but_those_on_the_page() -> None:
    assert set(TYPE_NAMES.values()) == set(DataType) - {DataType.NULL}


def test_the_error_on_the_page_is_the_one_that_is_given() -> None:
    shown = PAGE.rsplit("```\n", 2)[1]
    select = "SELECT b.price\nFROM bid AS b, auction [RANGE 1 HOUR] AS a\nWHERE b.auction = a.id\n;"
    with pytest.raises(SqlError) as caught:
        parse(select + DECLARATIONS, "auction.cql")
    assert str(caught.value) + "\n" == shown
