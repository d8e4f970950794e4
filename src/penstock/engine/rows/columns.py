"""Names of the columns of rows inside the engine.

Control columns begin with `#` and lanes with `=` (see `lanes`); no column of a source may.
"""

from __future__ import annotations

from penstock.query import Column

TS = "#ts"
"""Event time, microseconds; of a combination, that of its last member."""

ARRIVAL = "#arrival"
"""Arrival number of a tuple within its source."""

SEQUENCE = "#seq"
"""Number of a tuple in the total order of all tuples, where windows count rows."""

END = "#end"
"""Number at which a row dies, where windows count rows."""

PASSES = "#passes"
"""Whether a tuple of a ROWS window passes the filters of its input."""

UNTIL = "#until"
"""Latest event time at which a row is alive."""

ROUTE = "#route"
"""Number of the ruster that a new tuple belongs to."""

ROWS = "#rows"
"""A column of NULLs, which gives its length to a batch that has no other column."""

PLACE = "#place"
"""Place of a row among those whose partners are sought."""

TOLD = "#told"
"""Event time of a result of outer joins, where that is not the time of its last member."""


def is_control(name: str) -> bool:
    """Whether a column is the engine's own: a time, a number or a hash."""
    return name.startswith("#")


def hash_name(key: int) -> str:
    """The column with the hashes of a key class."""
    return f"#h{key}"


def number_name(alias: str) -> str:
    """The column with the numbers of one ROWS input's tuples, in combinations of several."""
    return f"#n:{alias}"


def time_name(alias: str) -> str:
    """The column with the event times of one input's tuples, in combinations of several."""
    return f"#t:{alias}"


def is_time_name(name: str) -> bool:
    """Whether a column has the event times of one input's tuples."""
    return name.startswith("#t:")


def plain_name(column: Column) -> str:
    """The name of a column in rows of its own input."""
    return column.name


def column_name(column: Column) -> str:
    """The name of a column in tuples that carry columns of several inputs."""
    return f"{column.stream}.{column.name}"


def group_name(output: str) -> str:
    """The name of a group that one input decides, in that input's tuples."""
    return f".{output}"
