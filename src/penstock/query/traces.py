"""Traces: how a tuple that comes or goes leads to the groups of a view that it may change.

A group of `GROUP BY A.k` is made of tuples with one key where `A.k = B.k`: whoever changes has the
key by which the group is told. Other columns of a ROWS window lead there too: of `GROUP BY A.g` a
tuple of B changes the groups of those tuples of A that have its key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from penstock.query.expression import Column, Expression, as_type
from penstock.query.keys import KeyClass, key_classes
from penstock.query.query import Query
from penstock.query.window import RowsWindow

GROUPS = -1
"""Stands for a key class where groups are told by columns of one input that are no join key."""


@dataclass(frozen=True)
class Link:
    """A ROWS window whose tuples lead from the keys of the `outer` class to those of the `inner`,
    which is nearer to the groups."""

    alias: str
    inner: int
    outer: int


@dataclass(frozen=True)
class Trace:
    """The key by which groups are told, and how changes of each input lead to it."""

    root: int
    """The key class that tells groups apart, or `GROUPS`."""

    shown: tuple[Expression, ...]
    """The parts of that key, over the columns of the view's groups."""

    pivot: str | None
    """The ROWS window whose own columns tell groups apart, if it is no key class."""

    parts: tuple[Expression, ...]
    """The parts of that key, over the pivot's columns."""

    links: tuple[Link, ...]
    """From the root outwards."""

    told_by: Mapping[str, int]
    """The key class by which a change of an input is told. Of others one may change all groups."""

    @property
    def classes(self) -> tuple[int, ...]:
        """The key classes by which changes are told, from the root outwards."""
        return (self.root, *(link.outer for link in self.links))


def trace_of(query: Query) -> Trace | None:
    """The trace of a view over ROWS windows that leaves the fewest streams out, if there is one."""
    if query.view is None or not query.is_sequenced:
        return None
    found = [*_by_keys(query), *_by_columns(query)]
    return min(found, key=lambda trace: _left_out(query, trace), default=None)


def _left_out(query: Query, trace: Trace) -> int:
    return sum(item.alias not in trace.told_by for item in query.streams)


def _groups(query: Query) -> Mapping[Expression, Column]:
    """The columns of a view's groups by what they are of the join."""
    assert query.view is not None
    outputs = {output.name: output.expression for output in query.outputs}
    return {outputs[column.name]: column for column in reversed(query.view.groups)}


def _by_keys(query: Query) -> Iterator[Trace]:
    """Traces by the key classes all parts of which are among the groups."""
    groups = _groups(query)
    for root, key in enumerate(key_classes(query)):
        shown = [_part(groups, key, i) for i in range(len(key.types))]
        known = tuple(part for part in shown if part is not None)
        if len(known) == len(shown):
            told_by = dict.fromkeys(key.streams, root)
            links = tuple(_links(query, [root], told_by))
            yield Trace(root, known, None, (), links, told_by)


def _part(groups: Mapping[Expression, Column], key: KeyClass, i: int) -> Expression | None:
    """A part of a key as the groups have it."""
    columns = [groups[parts[i]] for _, parts in key.members if parts[i] in groups]
    return as_type(columns[0], key.types[i]) if columns else None


def _by_columns(query: Query) -> Iterator[Trace]:
    """Traces by what groups there are of the columns of one ROWS window."""
    for item in query.streams:
        mine = {
            e: c
            for e, c in _groups(query).items()
            if isinstance(e, Column) and e.stream == item.alias
        }
        if mine and isinstance(item.window, RowsWindow):
            told_by = {item.alias: GROUPS}
            links = tuple(_links(query, [GROUPS], told_by))
            columns, shown = tuple(mine), tuple(mine.values())
            yield Trace(GROUPS, shown, item.alias, columns, links, told_by)


def _links(query: Query, reached: list[int], told_by: dict[str, int]) -> Iterator[Link]:
    """The ways to further key classes, and by what their inputs are told, breadth first."""
    for inner in reached:
        for alias in [a for a, told in told_by.items() if told == inner]:
            for outer, key in enumerate(key_classes(query)):
                if outer in reached or alias not in key.streams or not _has_rows(query, alias):
                    continue
                reached.append(outer)
                for other in key.streams:
                    told_by.setdefault(other, outer)
                yield Link(alias, inner, outer)


def _has_rows(query: Query, alias: str) -> bool:
    return isinstance(query.input(alias).window, RowsWindow)
