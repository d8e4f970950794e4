"""The order in which the joins of a SELECT are made that are not inner ones, as left joins.

A right join preserves what stands behind it, and all before it may be NULL. So `a LEFT JOIN b RIGHT
JOIN c` is `c LEFT JOIN a LEFT JOIN b`: where c has no partner a, ON of b equals nothing, and both
are NULL. That needs one input a that all before the right join have in common, and an ON that reads
no other of them.
"""

from __future__ import annotations

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.joins import From, Joined
from penstock.cql.select.predicates import bind_predicate
from penstock.errors import SqlError
from penstock.query.query import Input

Made = list[tuple[Joined, Input]]
"""Joins, each with the input whose tuples are partners."""


def in_making_order(scope: Scope, read: From) -> Made:
    """The joins in the order in which they are made; SqlError if a right join is no left one."""
    made: Made = []
    choosing: Made = []
    core = [scope.inputs[0]]
    for joined, item in zip(read.joined, scope.inputs[1:], strict=False):
        match joined.kind:
            case "inner":
                core.append(item)
            case "semi" | "anti":
                choosing.append((joined, item))
            case "right":
                made = [(joined, _only(scope, joined, core, made, item)), *made]
                core = [item]
            case _:
                made.append((joined, item))
    # Semi and anti joins only choose among the results of the others, whatever the order.
    return [*made, *choosing]


def _only(scope: Scope, joined: Joined, core: list[Input], made: Made, item: Input) -> Input:
    """The one input before a right join with which it compares."""
    if len(core) > 1:
        names = " and ".join(each.alias for each in core)
        message = f"{names} may be NULL only together here, and a RIGHT JOIN has one such input"
        raise _refused(scope, joined, message)
    others = _read(scope, joined) & {nullable.alias for _, nullable in made}
    if others:
        message = f"ON reads {min(others)}, which may be NULL before this RIGHT JOIN"
        raise _refused(scope, joined, message)
    for before, _ in made:
        if item.alias in _read(scope, before):
            message = f"ON reads {item.alias}, which is joined later"
            raise scope.text.error(
                node_span(before.table), message, "compare what is joined so far"
            )
    return core[0]


def _read(scope: Scope, joined: Joined) -> set[str]:
    """The inputs that ON reads."""
    conditions = (bind_predicate(scope, conjunct) for conjunct in joined.on)
    return {alias for condition in conditions for alias in condition.streams}


def _refused(scope: Scope, joined: Joined, message: str) -> SqlError:
    hint = (
        "join the others in a query of their own, CREATE STREAM x AS SELECT …, and LEFT JOIN x to "
        "this one"
    )
    return scope.text.error(node_span(joined.table), message, hint)
