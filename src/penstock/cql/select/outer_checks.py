"""Outer joins that cannot be run, refused where they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.text import Text
from penstock.cql.select.joins import Joined
from penstock.query.joins.outer import KIND_NAMES, OuterJoin
from penstock.query.keys import KeyClass, key_classes
from penstock.query.query import Query
from penstock.query.window import RowsWindow

Fault = tuple[str, str] | None
"""What is wrong, and what to do about it."""

Check = Callable[[Query, OuterJoin], Fault]


def check_outer(text: Text, joined: Joined, query: Query, *, is_view: bool) -> None:
    """Nothing, if the outer join of a query can be run; an SqlError at its table if not."""
    outer = query.outer
    assert outer is not None, "there is a join that is not an inner one"
    checks: tuple[Callable[[Query, OuterJoin], Fault], ...] = (
        _relation_fault,
        _rows_fault,
        _number_fault
        if joined.kind in ("right", "full") or _is_streamed(query, is_view)
        else _none,
        _table_fault,
        _key_fault,
        _core_fault,
    )
    for check in checks:
        fault = check(query, outer)
        if fault is not None:
            raise text.error(node_span(joined.table), *fault)


def _is_streamed(query: Query, is_view: bool) -> bool:
    """Whether each result of a semi join is told when its first partner comes."""
    return query.outer is not None and query.outer.kind == "semi" and not is_view


def _none(query: Query, outer: OuterJoin) -> Fault:
    return None


def _relation_fault(query: Query, outer: OuterJoin) -> Fault:
    views = [item.alias for item in query.inputs if item.is_relation]
    if not views:
        return None
    name = KIND_NAMES[outer.kind]
    message = f"{name} cannot read {views[0]} as it is: time does not tell when its rows go"
    if query.input(views[0]).source.is_kept:
        return message, "join it in a query of its own, whose results the outer join reads"
    return message, f"read its changes: {views[0]} [RANGE 10 SECONDS]"


def _rows_fault(query: Query, outer: OuterJoin) -> Fault:
    rows = [item.alias for item in query.inputs if isinstance(item.window, RowsWindow)]
    if not rows:
        return None
    name = KIND_NAMES[outer.kind]
    return (
        f"{name} cannot read {rows[0]} [ROWS …]: time does not tell when its tuples die",
        f"give {rows[0]} a window of time: [RANGE 10 SECONDS]",
    )


def _number_fault(query: Query, outer: OuterJoin) -> Fault:
    if len(query.inputs) == 2:
        return None
    if outer.kind == "semi":
        hint = "leave one side of it, or group: views may join more; NOT EXISTS may, too"
        return "a semi join of more than two inputs is not in the language", hint
    hint = "write it as a LEFT JOIN, whose other inputs may be joined to each other"
    return "a RIGHT or FULL JOIN of more than two inputs is not in the language", hint


def _table_fault(query: Query, outer: OuterJoin) -> Fault:
    tables = [item.alias for item in query.inputs if item.is_table]
    lonely = [side for side in outer.sides if set(side.preserved) <= set(tables)]
    if not lonely:
        return None
    return (
        f"{lonely[0].preserved[0]} is a table: its rows never die, so that a partner may always "
        "come",
        "preserve the stream, and put the table on the side that may be NULL",
    )


def _key_fault(query: Query, outer: OuterJoin) -> Fault:
    if outer.equalities:
        return None
    return (
        f"{KIND_NAMES[outer.kind]} needs an equality of both sides in ON",
        "write ON a.x = b.x AND …",
    )


def _core_fault(query: Query, outer: OuterJoin) -> Fault:
    """Whether the preserved inputs are joined with each other, and not by the outer join alone."""
    if len(outer.preserved) == 1:
        return None
    core = tuple(e for e in query.equalities if e not in outer.equalities)
    classes = key_classes(replace(query, equalities=core, outer=None))
    kept = [item for item in query.streams if item.alias in outer.preserved]
    for item in kept:
        if not any(item.alias in key.streams for key in classes):
            message = f"{item.alias} is joined to no other preserved input by an equality"
            return message, "join the inputs that are preserved by JOIN … ON a.x = b.x"
    for key in key_classes(query):
        mine = [alias for alias in key.streams if alias in outer.preserved]
        if len(mine) > 1 and not _is_core(key, mine, classes):
            message = (
                f"{' and '.join(mine)} are tied to each other by the ON of the outer join only"
            )
            return message, "put their own equality into WHERE, or compare one of them in ON"
    return None


def _is_core(key: KeyClass, mine: list[str], classes: tuple[KeyClass, ...]) -> bool:
    """Whether what is equal among preserved inputs is so without the outer join."""
    parts = list(zip(*(key.parts(alias) for alias in mine), strict=True))
    known = [
        part
        for core in classes
        if set(mine) <= set(core.streams)
        for part in zip(*(core.parts(alias) for alias in mine), strict=True)
    ]
    return all(part in known for part in parts)
