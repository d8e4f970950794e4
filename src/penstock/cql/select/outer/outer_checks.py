"""Outer joins that cannot be run, refused where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.text import Text
from penstock.cql.select.joins import Joined
from penstock.query.joins.outer import KIND_NAMES, OuterJoin, OuterJoins
from penstock.query.keys import KeyClass, key_classes
from penstock.query.query import Equality, Query
from penstock.query.window import RowsWindow

Fault = tuple[str, str] | None
"""What is wrong, and what to do about it."""

Check = Callable[[Query, OuterJoins, OuterJoin], Fault]

_TWO_QUERIES = (
    "write a LEFT JOIN b …, then UNION ALL and the same with b LEFT ANTI JOIN a …, where the "
    "columns of a are NULL"
)
_ALSO_INNER = (
    "join the others in a query of their own, CREATE STREAM x AS SELECT …, and FULL JOIN x to this "
    "one"
)
MOST_LEFT = 4
"""Left joins of a query: each may have a partner or not, in every combination of these."""


def refuse_places(text: Text, joined: Sequence[Joined]) -> None:
    """Nothing, if all joins of a SELECT can be made together; an SqlError at a table if not."""
    for each in joined:
        if each.kind == "full" and len(joined) > 1:
            message = "a FULL JOIN of more than two inputs is not in the language"
            hint = _ALSO_INNER if "inner" in {other.kind for other in joined} else _TWO_QUERIES
            raise text.error(node_span(each.table), message, hint)
    left = [each for each in joined if each.kind in ("left", "right")]
    if len(left) > MOST_LEFT:
        message = f"a query has {MOST_LEFT} outer joins at most"
        hint = "ask the others in a query of their own, which reads the results of this one"
        raise text.error(node_span(left[MOST_LEFT].table), message, hint)


def check_outer(text: Text, joined: Sequence[Joined], query: Query, is_view: bool) -> None:
    """Nothing, if the outer joins of a query can be run; an SqlError at a table if not."""
    outer = query.outer
    assert outer is not None, "there is a join that is not an inner one"
    checks: tuple[Check, ...] = (
        _relation_fault,
        _rows_fault,
        _table_fault,
        _key_fault,
        _core_fault,
        _tie_fault,
        *(() if is_view else (_semi_fault,)),
    )
    for each, join in zip(joined, outer.joins, strict=True):
        for check in checks:
            fault = check(query, outer, join)
            if fault is not None:
                raise text.error(node_span(each.table), *fault)


def _relation_fault(query: Query, outer: OuterJoins, join: OuterJoin) -> Fault:
    views = [item.alias for item in query.inputs if item.is_relation]
    if not views:
        return None
    name = KIND_NAMES[join.kind]
    message = f"{name} cannot read {views[0]} as it is: time does not tell when its rows go"
    if query.input(views[0]).source.is_kept:
        return message, "join it in a query of its own, whose results the outer join reads"
    return message, f"read its changes: {views[0]} [RANGE 10 SECONDS]"


def _rows_fault(query: Query, outer: OuterJoins, join: OuterJoin) -> Fault:
    rows = [item.alias for item in query.inputs if isinstance(item.window, RowsWindow)]
    if not rows:
        return None
    name = KIND_NAMES[join.kind]
    message = f"{name} cannot read {rows[0]} [ROWS …]: time does not tell when its tuples die"
    if rows[0] != join.nullable or join.kind == "full":
        return message, f"give {rows[0]} a window of time: [RANGE 10 SECONDS]"
    return message, (
        f"give {rows[0]} a window of time, or make the pairs in a query of their own, CREATE "
        "STREAM p AS SELECT …, and join p [NOW] by what tells the others apart"
    )


def _table_fault(query: Query, outer: OuterJoins, join: OuterJoin) -> Fault:
    tables = [item.alias for item in query.inputs if item.is_table]
    lonely = [side for side in join.sides if set(side.preserved) <= set(tables)]
    if not lonely:
        return None
    return (
        f"{lonely[0].preserved[0]} is a table: its rows never die, so that a partner may always "
        "come",
        "preserve the stream, and put the table on the side that may be NULL",
    )


def _key_fault(query: Query, outer: OuterJoins, join: OuterJoin) -> Fault:
    if join.equalities:
        return None
    return (
        f"{KIND_NAMES[join.kind]} needs an equality of both sides in ON",
        "write ON a.x = b.x AND …",
    )


def _core_fault(query: Query, outer: OuterJoins, join: OuterJoin) -> Fault:
    """Whether the inputs that are always preserved are joined by more than the outer joins."""
    if len(outer.core) == 1:
        return None
    classes = _classes(query, [e for e in query.equalities if e not in outer.equalities])
    for item in query.streams:
        if item.alias in outer.core and not any(item.alias in key.streams for key in classes):
            message = f"{item.alias} is joined to no other preserved input by an equality"
            return message, "join the inputs that are preserved by JOIN … ON a.x = b.x"
    return None


def _tie_fault(query: Query, outer: OuterJoins, join: OuterJoin) -> Fault:
    """Whether ON compares its own input alone, and not those before it with each other."""
    later = [each for each in outer.joins if each.nullable not in join.preserved]
    own = {equality for each in later for equality in each.equalities}
    before = [e for e in query.equalities if e not in own]
    classes = _classes(query, before)
    for key in _classes(query, [*before, *join.equalities]):
        mine = [alias for alias in key.streams if alias in join.preserved]
        if len(mine) > 1 and not _is_core(key, mine, classes):
            message = (
                f"{' and '.join(mine)} are tied to each other by the ON of the outer join only"
            )
            return message, "put their own equality into WHERE, or compare one of them in ON"
    return None


def _semi_fault(query: Query, outer: OuterJoins, join: OuterJoin) -> Fault:
    """Whether a tuple of a stream says who has a partner once that comes."""
    streams = {item.alias for item in query.streams} - {join.nullable}
    if join.kind != "semi" or any(e.streams & streams for e in join.equalities):
        return None
    message = f"{join.nullable} is compared with tables alone"
    return message, "compare it with a column of a stream, or group: views may do so"


def _classes(query: Query, equalities: Iterable[Equality]) -> tuple[KeyClass, ...]:
    return key_classes(replace(query, equalities=tuple(equalities), outer=None))


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
