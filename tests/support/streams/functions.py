"""Users' functions for tests of queries that call them, in Python and in a file."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import penstock as ps
from penstock.cql import parse
from penstock.query import (
    Column,
    DataType,
    Function,
    Query,
)

T = DataType


@ps.function(cost="0.5 ms", selectivity=0.1)
def near(price: float, note: str) -> bool:
    return price < 10 * len(note)


@ps.function(cost=2e-6)
def spell(number: int) -> str | None:
    return None if number < 0 else ["one", "two", "three"][number % 3]


@ps.function(cost=0)
def next_day(day: date) -> date:
    return day + timedelta(days=1)


@ps.function(cost="0.2 us", arguments=["DOUBLE", "INTEGER"], returns="double", vectorized=True)
def scaled(prices: pa.Array, by: pa.Array) -> pa.Array:
    return pc.multiply(prices, by)


FUNCTIONS = (near, spell, next_day, scaled)

# Stands after the query, so that errors count its own lines.
DECLARATION = """
;
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, bidder INT, price DOUBLE, note STRING, day DATE)
WITH (format = 'csv', path = 'bids', timestamp = 'ts')
"""


def ask(select: str, *functions: Function) -> Query:
    return parse(select + DECLARATION, functions=functions or FUNCTIONS)


def column(name: str, type_: DataType) -> Column:
    return Column("bid", name, type_)


FILE = """\
from __future__ import annotations

from dataclasses import dataclass

import penstock

@dataclass
class Level:
    least: float

LEVEL = Level(3.0)

def above(price: float) -> bool:
    return price > LEVEL.least

@penstock.function(cost="0.5 ms", selectivity=0.3)
def dear(price: float, reserve: float) -> bool:
    return above(price) and price > reserve

@penstock.function(cost="2 us")
def factorial(n: int) -> int:
    return n * factorial(n - 1) if n > 1 else 1
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def counted(name: str, seen: list[Any], keep: Any, type_: DataType = T.BIGINT) -> Function:
    """A function that notes what it is called with."""

    def call(*arguments: Any) -> bool:
        seen.append(arguments if len(arguments) > 1 else arguments[0])
        return bool(keep(*arguments))

    return Function(name, (type_,), T.BOOLEAN, 1e-3, call)
