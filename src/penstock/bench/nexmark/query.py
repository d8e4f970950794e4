"""A query of the benchmark in the languages of all rivals, and how its results are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from penstock.query.made.nexmark import StreamKind

Comparison = Literal["rows", "ticks", "end"]
"""All results; or a view as it is at each of its ticks; or as it is in the end."""


@dataclass(frozen=True)
class NexmarkQuery:
    """A query as each rival is asked it; None is what a rival cannot express.

    `columns` are those of its results, with their types as Flink writes them; where a view is
    compared at its ticks, the last of them is the tick.
    """

    name: str
    streams: tuple[StreamKind, ...]
    columns: Mapping[str, str]
    cql: str
    spark: str | None = None
    flink: str | None = None
    compared: Comparison = "rows"
    key: tuple[str, ...] = ()
    """Of a view, the columns that tell its rows apart."""

    tick_seconds: int = 0
    """How far apart its ticks are, where it is compared at them."""

    marked: tuple[Literal["spark", "flink"], ...] = ()
    """Rivals that need watermarks for it. Others have less to do without."""

    behind_seconds: int | None = None
    """If some rival tells of times that are over only: how long before the end of the last whole
    block the last column must lie for all to tell of it."""

    @property
    def is_counted_alike(self) -> bool:
        """Whether all rivals that tell how many results there are have as many."""
        return self.compared == "rows" and self.behind_seconds is None


def flink_type(type_: str) -> str:
    """A type as Flink writes it; its event times are in milliseconds."""
    return type_.replace("TIMESTAMP", "TIMESTAMP(3)")
