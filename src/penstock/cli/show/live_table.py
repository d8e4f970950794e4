"""`--sink table`: a view as a table on the terminal, kept up to date as its groups change."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from penstock.cli.show.progress import Progress
from penstock.errors import SinkError
from penstock.query import Query
from penstock.query.intervals import with_intervals
from penstock.query.query import hidden_group
from penstock.query.view import CHANGE, TIME

MOST_ROWS = 40
"""Groups that are shown at most: what a look takes in."""
_OTHER_LINES = 12
"""Lines that the headings and the progress below need on a terminal."""


def check_table(query: Query) -> None:
    """Refuse a query whose results are no groups, or groups that cannot be told apart."""
    if query.view is None:
        raise SinkError(
            "a table shows the groups of a view, and this query has none",
            hint="add GROUP BY or aggregates, or use --sink console",
        )
    text = hidden_group(query)
    if text is not None:
        raise SinkError(
            f"the rows of a table are told apart by their groups, and {text} is not selected",
            hint=f"add {text} to SELECT, or use --sink console",
        )


@contextmanager
def live_table(query: Query) -> Iterator[Progress]:
    """The progress of a run with the view above it; changes are taken from standard output."""
    view = LiveView(query)
    with Progress(above=view.table) as progress:
        terminal = sys.stdout
        # The console sink prints changes; what others print, such as a function, goes on its way.
        lines = _Lines(lambda line: view.tell(line) or terminal.write(line))
        file = io.TextIOWrapper(io.BufferedWriter(lines), "utf-8", line_buffering=True)
        with redirect_stdout(file):
            yield progress


class LiveView:
    """The latest row of each group, by the changes that were told."""

    def __init__(self, query: Query) -> None:
        assert query.view is not None, "only views have groups"
        groups = set(query.view.key)
        self._names = [output.name for output in with_intervals(query).results]
        self._told = {output.name for output in query.view.outputs}
        self._groups = [o.name for o in query.view.outputs if o.expression in groups]
        self._rows: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        self._time: str | None = None

    def tell(self, line: str) -> bool:
        """Take a change as a JSON line; False if it is something else."""
        try:
            row = json.loads(line)
            time, change = row[TIME], row[CHANGE]
        except (ValueError, TypeError, KeyError):
            return False
        group = tuple(row[name] for name in self._groups)
        if change == "delete":
            self._rows.pop(group, None)
        else:
            self._rows[group] = row
            self._told.update(row)
        self._time = max(self._time or time, time)
        return True

    def table(self, lines: int | None = None) -> Group:
        """The groups in their order, as many as fit on so many lines; default: the terminal's."""
        height = shutil.get_terminal_size().lines if lines is None else lines
        most = max(1, min(MOST_ROWS, height - _OTHER_LINES))
        table = Table(box=None, pad_edge=False)
        names = [name for name in self._names if name in self._told]
        for name in names:
            table.add_column(name, justify="left" if name in self._groups else "right")
        for group in sorted(self._rows, key=_in_order)[:most]:
            row = self._rows[group]
            table.add_row(*(_cell(row.get(name), name in self._groups) for name in names))
        return Group(table, Text(f"{self._foot(most)}\n", style="dim"))

    def _foot(self, most: int) -> str:
        count = len(self._rows)
        more = f"… {count - most:,} more\n" if count > most else ""
        when = "nothing yet" if self._time is None else f"as of {self._time}"
        return f"{more}{count:,} group{'' if count == 1 else 's'}, {when}"


class _Lines(io.RawIOBase):
    """A file that hands over each line that is written to it."""

    def __init__(self, take: Callable[[str], object]) -> None:
        self._take = take
        self._rest = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        *lines, self._rest = (self._rest + bytes(data)).split(b"\n")
        for line in lines:
            self._take(line.decode("utf-8", "replace") + "\n")
        return len(data)


def _in_order(group: tuple[Any, ...]) -> tuple[tuple[bool, Any], ...]:
    """NULL comes first."""
    return tuple((value is not None, value) for value in group)


def _cell(value: object, is_group: bool) -> str:
    match value:
        case None:
            return "NULL"
        case bool() | str():
            return str(value)
        case float():
            return f"{value:,.6g}"
        case _:
            return str(value) if is_group else f"{value:,}"
