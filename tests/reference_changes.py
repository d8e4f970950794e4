"""The meaning of a query that is changed on its checkpoint, in plain loops.

From the first batch after the change on, results are those of the new query over all tuples that
are still there; what was given before stays. Read it beside docs/language.md, under "Changing a
query".
"""

from __future__ import annotations

from penstock.query import Query
from penstock.query.expression import Value
from reference import Batches, Change, answer
from reference_tables import Versions, answer_by_versions, viewed


def answer_changed(
    old: Query, new: Query, batches: Batches, since: int, drain: bool
) -> tuple[list[tuple[Value, ...]], list[tuple[Value, ...]]]:
    """The results of a join before it is changed, and those of the batches since."""
    before = answer(old, first(batches, since, old), drain=False)
    return before, answer_by_versions(new, batches, tables(new, batches), drain, since)


def changes_changed(
    old: Query, new: Query, batches: Batches, since: int, drain: bool
) -> tuple[list[Change], list[Change]]:
    """What a view tells before it is changed, and what the batches since tell.

    Of a group that was shown, columns that were not are NULL; it is told again where its row is
    another one then.
    """
    read = first(batches, since, old)
    before, shown = viewed(old, read, tables(old, batches), drain=False)
    known = {group: as_shown(old, new, row) for group, row in shown.items()}
    after, _ = viewed(new, batches, tables(new, batches), drain, since, known)
    return before, after


def as_shown(old: Query, new: Query, row: tuple[Value, ...]) -> tuple[Value, ...]:
    """A row of the old view in the columns of the new one."""
    names = {o.name: value for o, value in zip(old.results, row, strict=True)}
    return tuple(names.get(output.name) for output in new.results)


def first(batches: Batches, count: int, query: Query) -> Batches:
    """The first batches; a table has one."""
    streams = {item.alias for item in query.streams}
    return {a: found[:count] if a in streams else found for a, found in batches.items()}


def tables(query: Query, batches: Batches) -> Versions:
    """The rows of tables, the same in each batch."""
    count = max(len(batches[item.alias]) for item in query.streams)
    whole = {i.alias: [r for b in batches[i.alias] for r in b] for i in query.inputs if i.is_table}
    return {alias: [rows] * count for alias, rows in whole.items()}
