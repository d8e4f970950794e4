"""A view and its tuples as the aggregating kernel takes them: keys, groups and items by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.codes import group_codes
from penstock.engine.rows.columns import TS, plain_name
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import FOREVER, alive_until
from penstock.errors import PlanError
from penstock.lab.kernels.aggregation import Groups, Items, Tuples, Visits
from penstock.lab.layout.joinable import joinable
from penstock.lab.layout.positions import Lifetimes, lifetimes_of
from penstock.lab.views.accepted import expressions_of
from penstock.plan.multiway import MultiwayJoin
from penstock.query import Expression, Input, Query, RowsWindow, View
from penstock.query.expression import streams_of

Int64s = NDArray[np.int64]
MOST_GROUPS = 1 << 24
"""Groups have numbers, and a place for each is kept; more would take too much memory."""


@dataclass(frozen=True)
class Able:
    """The rows of one input that can join at all, in total order, with numbers for their values.

    `representatives` are rows with each of the groups, by their number.
    """

    rows: pa.Table
    births: Int64s
    deaths: Int64s
    keys: Int64s
    groups: Int64s
    representatives: Int64s


def able_rows(plan: MultiwayJoin, view: View, tuples: Mapping[str, pa.Table]) -> dict[str, Able]:
    """The rows of all inputs, keys numbered alike over all of them."""
    query = plan.query
    lives, _ = lifetimes_of(query, tuples)
    codes = joinable(Layout(query), (), {alias: life.rows for alias, life in lives.items()})
    kept = {alias: np.flatnonzero(codes.passes[alias]) for alias in query.aliases}
    keys = [codes.keys[alias, 0][kept[alias]] for alias in query.aliases]
    numbers = np.unique(np.concatenate(keys), return_inverse=True)[1].astype(np.int64)
    ends = np.cumsum([len(own) for own in keys])[:-1]
    return {
        alias: _able(query, view, alias, lives[alias], kept[alias], own)
        for alias, own in zip(query.aliases, np.split(numbers, ends), strict=True)
    }


def _able(
    query: Query, view: View, alias: str, life: Lifetimes, kept: Int64s, keys: Int64s
) -> Able:
    rows = life.rows.take(pa.array(kept))
    columns = [evaluate(e, rows, plain_name) for e in own_groups(query, view, alias).values()]
    codes = group_codes(columns, len(rows))
    _, firsts, groups = np.unique(codes, return_index=True, return_inverse=True)
    return Able(rows, life.births[kept], life.deaths[kept], keys, groups.astype(np.int64), firsts)


def own_groups(query: Query, view: View, alias: str) -> dict[str, Expression]:
    """The groups that an input decides, by name; constants are the first input's."""
    given = expressions_of(query)
    return {g.name: given[g.name] for g in view.groups if owner_of(query, given[g.name]) == alias}


def owner_of(query: Query, expression: Expression) -> str:
    """The input that an expression reads."""
    return next(iter(streams_of(expression)), query.aliases[0])


def tuples_and_items(
    plan: MultiwayJoin, view: View, able: Mapping[str, Able], strides: Mapping[str, int], each: int
) -> tuple[Tuples, Items]:
    """All tuples, input after input, and the items they are in, with so many buckets an input."""
    query, sizes = plan.query, [len(one.rows) for one in able.values()]
    numbered = [_item_numbers(one, alias in plan.early) for alias, one in able.items()]
    counts = [len(firsts) for firsts, _ in numbered]
    starts = np.cumsum([0, *counts])[:-1].astype(np.int64)
    stream = np.repeat(np.arange(len(able)), sizes)
    item = np.concatenate([s + own for s, (_, own) in zip(starts, numbered, strict=True)])
    pairs = list(zip(able.items(), numbered, strict=True))
    key = np.concatenate([one.keys[firsts] for (_, one), (firsts, _) in pairs])
    group = np.concatenate(
        [strides[alias] * one.groups[firsts] for (alias, one), (firsts, _) in pairs]
    )
    bucket = np.repeat(np.arange(len(able)), counts) * each + key % each
    values, present = _arguments(query, view, able)
    lanes = values.shape[1]
    many = len(key)
    return Tuples(stream, item, values, present), Items(
        key=key,
        group=group,
        bucket=bucket,
        held=np.zeros(many, np.int64),
        sums=np.zeros((many, lanes), np.int64),
        present=np.zeros((many, lanes), np.int64),
        live=np.zeros(many, np.int64),
        place=np.zeros(many, np.int64),
        start=starts,
        size=np.zeros(len(able), np.int64),
        heads=np.full(len(able) * each, -1),
        before=np.full(many, -1),
        after=np.full(many, -1),
    )


def _item_numbers(one: Able, is_early: bool) -> tuple[Int64s, Int64s]:
    """A tuple of each item, and the item of each tuple: itself, or the row it is folded into."""
    if not is_early:
        return np.arange(len(one.rows)), np.arange(len(one.rows))
    cells = one.keys * max(1, len(one.representatives)) + one.groups
    _, firsts, numbers = np.unique(cells, return_index=True, return_inverse=True)
    return firsts, numbers.astype(np.int64)


def _arguments(query: Query, view: View, able: Mapping[str, Able]) -> tuple[Int64s, Int64s]:
    """By tuple, the value of each argument (0 where it is NULL or another input's), and whether it
    has one."""
    given, total = expressions_of(query), sum(len(one.rows) for one in able.values())
    values = np.zeros((total, len(view.arguments)), np.int64)
    present = np.zeros_like(values)
    for lane, name in enumerate(view.arguments):
        start = 0
        for alias, one in able.items():
            end = start + len(one.rows)
            if owner_of(query, given[name]) == alias:
                column = evaluate(given[name], one.rows, plain_name)
                present[start:end, lane] = column.is_valid().to_numpy(zero_copy_only=False)
                if pa.types.is_integer(column.type):
                    whole = column.cast(pa.int64()).fill_null(0)
                    values[start:end, lane] = whole.to_numpy(zero_copy_only=False)
            start = end
    return values, present


def strides_of(able: Mapping[str, Able]) -> tuple[dict[str, int], int]:
    """What an input's group counts in the number of the query's group, and how many there are."""
    strides, many = {}, 1
    for alias, one in reversed(tuple(able.items())):
        strides[alias] = many
        many *= max(1, len(one.representatives))
    if many > MOST_GROUPS:
        raise PlanError(f"{many:,} groups are too many for the laboratory")
    return strides, many


def empty_groups(many: int, lanes: int, stride: int, buckets: int) -> Groups:
    """The query's aggregation set before anything has arrived."""
    return Groups(
        bucket=np.arange(many) // stride % buckets,
        held=np.zeros(many, np.int64),
        sums=np.zeros((many, lanes), np.int64),
        present=np.zeros((many, lanes), np.int64),
        heads=np.full(buckets, -1),
        before=np.full(many, -1),
        after=np.full(many, -1),
        marked=np.zeros(many, np.bool_),
        touched=np.zeros(many, np.int64),
        listed=np.zeros(1, np.int64),
    )


def visits_of(plan: MultiwayJoin, view: View) -> Visits:
    """The visits of each stream; a table makes none."""
    query = plan.query
    numbers = {alias: number for number, alias in enumerate(query.aliases)}
    depth = len(numbers) - 1
    targets = np.zeros((len(numbers), depth), np.int64)
    nested = np.zeros((len(numbers), depth), np.bool_)
    for order in plan.orders:
        row = numbers[order.driver]
        targets[row] = [numbers[target] for target in order.targets]
        nested[row] = [probe.method == "nested" for probe in order.probes]
    given = expressions_of(query)
    owners = [numbers[owner_of(query, given[name])] for name in view.arguments]
    folds = np.array([alias in plan.early for alias in query.aliases], np.bool_)
    return Visits(targets, nested, folds, np.array(owners, np.int64))


def events_of(able: Mapping[str, Able], positions: int) -> tuple[Int64s, Int64s]:
    """Tuples as they come (1, of tables 2) and go (−1), before position `positions` of all; at one
    position the old ones go first."""
    tuples, signs, moments = _moments(able, positions)
    order = np.argsort(moments, kind="stable")
    order = order[moments[order] < 2 * positions]
    return tuples[order], signs[order]


def timed_events(
    query: Query, able: Mapping[str, Able], times: Int64s
) -> tuple[Int64s, Int64s, Int64s]:
    """The same, with those that go after the last position, and the event time of each.

    A tuple has gone at the first time at which it is not alive any more.
    """
    tuples, signs, moments = _moments(able, len(times))
    # Rows of tables are there before everything.
    born = [
        np.where(one.births < 0, -FOREVER, one.rows.column(TS).to_numpy()) for one in able.values()
    ]
    gone = [
        _gone(query.input(alias), one, own, times)
        for (alias, one), own in zip(able.items(), born, strict=True)
    ]
    at = np.concatenate([*born, *gone])
    order = np.lexsort((at, moments))
    order = order[at[order] < FOREVER]
    return tuples[order], signs[order], at[order]


def _moments(able: Mapping[str, Able], positions: int) -> tuple[Int64s, Int64s, Int64s]:
    """All tuples as they come and then as they go, with numbers for the order of that."""
    births = np.concatenate([one.births for one in able.values()])
    deaths = np.concatenate([one.deaths for one in able.values()])
    tuples = np.arange(len(births))
    moments = np.concatenate([2 * births + 1, 2 * np.minimum(deaths, positions)])
    signs = np.concatenate([np.where(births < 0, 2, 1), np.full(len(births), -1)])
    return np.concatenate([tuples, tuples]), signs, moments


def _gone(item: Input, one: Able, born: Int64s, times: Int64s) -> Int64s:
    """The first times at which tuples are dead: those of who pushes them out of a ROWS window."""
    if not isinstance(item.window, RowsWindow):
        until = alive_until(item.window, born)
        return np.where(until >= FOREVER, FOREVER, until + 1)
    if not len(times):
        return np.full(len(born), FOREVER)
    pushed = times[np.minimum(one.deaths, len(times) - 1)]
    return np.where(one.deaths >= len(times), FOREVER, pushed)
