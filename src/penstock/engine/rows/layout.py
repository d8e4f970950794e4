"""Layout: the columns that the tuples of a query carry, and the spaces they are kept in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock.engine.rows.columns import column_name, group_name
from penstock.engine.rows.lanes import Lane, count_of
from penstock.engine.rows.sample_weights import quantities_of, sample_columns, sample_lanes
from penstock.engine.rows.ticks import Ticks
from penstock.engine.rows.value_lanes import lanes_of
from penstock.query import Column, Condition, Expression, Query
from penstock.query.expression import columns_of, render, streams_of
from penstock.query.intervals import with_intervals
from penstock.query.joins.outer import is_known
from penstock.query.keys import KeyClass, key_classes, unkeyed_equalities
from penstock.query.query import Input, as_condition
from penstock.query.view import Output
from penstock.query.window import RowsWindow


@dataclass(frozen=True)
class Layout:
    """The key classes of a query and the spaces its inputs are kept in.

    A space is a set of partitions with its own way of placing tuples: one for each key class (by
    hash of the key), then one for each input that has no key (spread evenly). An input has a state
    module in every space it belongs to; the first is its home.
    """

    query: Query

    weighted: frozenset[str] = frozenset()
    """The inputs whose rows may stand for several tuples, with aggregates of them in lanes."""

    early: frozenset[str] = frozenset()
    """The weighted inputs that are folded as they come; others were so under an earlier plan."""

    sampled: frozenset[str] = frozenset()
    """The inputs that are or were shed; tuples carry the weights by which views are estimated."""

    is_estimate: bool = False
    """Whether results show the estimates and their intervals."""

    tells_times: bool = False
    """Whether results have their times, for other queries that read them as a stream or take them
    as their own."""

    timed: frozenset[str] = frozenset()
    """The inputs whose tuples' times travel with combinations: queries that take these have other
    windows."""

    parts: frozenset[frozenset[str]] = frozenset()
    """The sets of some inputs of which other queries take the combinations."""

    unknown: frozenset[tuple[str, str]] = frozenset()
    """Inputs and keys, as `key_text` has them, of which tuples were kept that are NULL there."""

    @cached_property
    def real_parts(self) -> frozenset[frozenset[str]]:
        """Those that are not all of the inputs, and of which no input is gone."""
        every = frozenset(self.query.aliases)
        return frozenset(part for part in self.parts if part < every)

    @cached_property
    def shown(self) -> Query:
        """The query with all the columns that its results have."""
        return with_intervals(self.query) if self.is_estimate else self.query

    @cached_property
    def keys(self) -> tuple[KeyClass, ...]:
        return key_classes(self.query)

    @cached_property
    def spaces(self) -> Mapping[str, tuple[int, ...]]:
        """The spaces of each input."""
        spaces = {}
        unkeyed = len(self.keys)
        for alias in self.query.aliases:
            mine = tuple(k for k, key in enumerate(self.keys) if alias in key.streams)
            if not mine:
                mine = (unkeyed,)
                unkeyed += 1
            spaces[alias] = mine
        return spaces

    @property
    def view_space(self) -> int:
        """The space of the view's groups, beyond those of inputs and of any plan's inner joins."""
        return len(self.keys) + 2 * len(self.query.inputs)

    def keys_of(self, alias: str) -> tuple[int, ...]:
        """The key classes an input belongs to."""
        return tuple(space for space in self.spaces[alias] if space < len(self.keys))

    @cached_property
    def checks(self) -> tuple[Condition, ...]:
        """Conditions that a probe by key does not prove: thetas, and equalities beyond 64 bits; of
        an outer join also those of partners, and those that come after it."""
        equalities = unkeyed_equalities(self.query, self.keys)
        outer = self.query.outer
        own = () if outer is None else (*outer.partner_conditions, *outer.after)
        return (
            *(as_condition(e) for e in equalities),
            *self.query.thetas,
            *own,
            *self._known_keys,
        )

    @cached_property
    def _known_keys(self) -> Mapping[Condition, tuple[str, KeyClass]]:
        """That the keys are known which may be NULL, since tuples are kept for parts of the join
        that do not ask for them."""
        return {
            Condition(is_known(part)): (alias, key)
            for alias, key in self._partial_keys
            for part in key.parts(alias)
        }

    @cached_property
    def _partial_keys(self) -> tuple[tuple[str, KeyClass], ...]:
        """The keys of inputs that some part of the join does not know. Tuples that are NULL in them
        are kept there too, so that equal hashes do not prove that they are equal."""
        return tuple(
            (alias, key)
            for alias in self.query.aliases
            for key in self.keys
            if alias in key.streams and self._is_partial(alias, key)
        )

    def _is_partial(self, alias: str, key: KeyClass) -> bool:
        is_known = not any(_is_apart(part, alias, key) for part in self.parts)
        return not is_known or (alias, key_text(key, alias)) in self.unknown

    @property
    def unknown_keys(self) -> tuple[tuple[str, str], ...]:
        """The inputs and keys of which tuples are kept that are NULL there."""
        return tuple((alias, key_text(key, alias)) for alias, key in self._partial_keys)

    def is_decided(self, check: Condition, members: Collection[str]) -> bool:
        """Whether a check can be made once some inputs are bound; that a key is known, as soon as
        something else is that must be equal to it."""
        if check in self._known_keys:
            alias, key = self._known_keys[check]
            return alias in members and len(set(members).intersection(key.streams)) > 1
        return self._bound_for(check) <= set(members)

    def _bound_for(self, check: Condition) -> frozenset[str]:
        """The inputs that must be bound for a check: all, if it is a filter that waits, or says of
        preserved inputs alone whether they have partners."""
        outer = self.query.outer
        is_of_partners = outer is not None and check in outer.partner_conditions
        if len(check.streams) > 1 and not is_of_partners:
            return check.streams
        return frozenset(self.query.aliases)

    def keeps_unknown(self, alias: str, key: int) -> bool:
        """Whether tuples of an input are kept though they are NULL in a key: those that an outer
        join preserves, if nothing but its ON has that key, and those of parts of the join."""
        outer = self.query.outer
        if (alias, self.keys[key]) in self._partial_keys:
            return True
        if outer is None or alias not in outer.keepers:
            return False
        parts = self.keys[key].parts(alias)
        inner = (e for e in self.query.equalities if e not in outer.equalities)
        return not any(side in parts for e in inner for side in (e.left, e.right))

    def payload(self, alias: str) -> tuple[Column, ...]:
        """The columns of an input that results or checks read, in declared order."""
        wanted = [output.expression for output in self.query.outputs]
        wanted += [check.expression for check in self.checks]
        return self._columns(alias, wanted)

    def carried(self, alias: str) -> frozenset[str]:
        """The columns with which an input's tuples travel and are kept."""
        wanted = [output.expression for output in self.outputs]
        wanted += [check.expression for check in self.checks]
        names = {column_name(column) for column in self._columns(alias, wanted)}
        return frozenset(names.union(self.weights(alias)))

    def reads(self, alias: str) -> tuple[str, ...]:
        """The columns that must be read from the source of an input."""
        item = self.query.input(alias)
        wanted: list[Expression] = [output.expression for output in self.query.outputs]
        wanted += [c.expression for c in (*self.checks, *self.query.filters)]
        wanted += [part for k in self.keys_of(alias) for part in self.keys[k].parts(alias)]
        names = {column.name for column in self._columns(alias, wanted)} | set(partition_by(item))
        if item.source.timestamp:
            names.add(item.source.timestamp)
        return tuple(f.name for f in item.source.fields if f.name in names)

    def _columns(self, alias: str, expressions: Iterable[Expression]) -> tuple[Column, ...]:
        found = {c for e in expressions for c in columns_of(e) if c.stream == alias}
        order = [f.name for f in self.query.input(alias).source.fields]
        return tuple(sorted(found, key=lambda c: order.index(c.name)))

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The inputs whose tuples are never the last of a combination; a view goes by times."""
        inputs = self.query.inputs if self.query.view is None else ()
        return tuple(item.alias for item in inputs if item.is_relation)

    @property
    def ends_plain(self) -> bool:
        """Whether nobody asks for the times and numbers of complete combinations."""
        return self.query.view is None and not self.tells_times and not self.relations

    # Views

    @cached_property
    def ticks(self) -> Ticks | None:
        """When the view is evaluated, if there is one."""
        return Ticks.of(self.query)

    @cached_property
    def owners(self) -> Mapping[str, str]:
        """The weighted input that an output of the join reads alone, by the output's name.

        Its values are computed before the join: groups as columns, arguments of aggregates in
        lanes, but for those that must be known one by one.
        """
        streams = {o.name: streams_of(o.expression) for o in self.query.outputs}
        return {
            name: next(iter(read))
            for name, read in streams.items()
            if len(read) == 1 and read <= self.weighted and not self._keeps_values(name)
        }

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs that are computed after the join."""
        return tuple(o for o in self.query.outputs if o.name not in self.owners)

    def is_group(self, output: str) -> bool:
        """Whether a view groups by an output of the join."""
        view = self.query.view
        return view is not None and any(column.name == output for column in view.groups)

    def _keeps_values(self, output: str) -> bool:
        view = self.query.view
        return view is not None and not self.is_group(output) and view.keeps_values(output)

    def weights(self, alias: str) -> tuple[str, ...]:
        """The columns that an input's tuples get by being weighted or sampled."""
        view, is_sampled = self.query.view, alias in self.sampled
        if view is None or alias not in self.weighted:
            return sample_columns(alias) if is_sampled else ()
        groups: list[str] = []
        lanes = [count_of(alias)]
        for output in self._owned(alias):
            if self.is_group(output):
                groups.append(group_name(output))
            else:
                lanes += lanes_of(view, output)
        lanes += sample_lanes(alias, self.quantities(alias)) if is_sampled else ()
        return (*groups, *map(str, lanes))

    def quantities(self, alias: str) -> tuple[Lane, ...]:
        """The sums that are estimated of a folded input: its number, and its own arguments."""
        view = self.query.view
        if view is None:
            return ()  # Those who take combinations add them up.
        arguments = [output for output in self._owned(alias) if not self.is_group(output)]
        lanes = [lane for each in arguments for lane in quantities_of(view, each)]
        return (count_of(alias), *lanes)

    def _owned(self, alias: str) -> list[str]:
        return [output for output, owner in self.owners.items() if owner == alias]


def partition_by(item: Input) -> tuple[str, ...]:
    """The columns by which an input's ROWS window is partitioned."""
    return item.window.partition_by if isinstance(item.window, RowsWindow) else ()


def key_text(key: KeyClass, alias: str) -> str:
    """A key of an input in words, with the types in which it is hashed."""
    parts = zip(key.parts(alias), key.types, strict=True)
    return ", ".join(f"{render(part)} {type_}" for part, type_ in parts)


def _is_apart(part: frozenset[str], alias: str, key: KeyClass) -> bool:
    """Whether a part of a join has an input, but nothing that it is equal to in a key."""
    return alias in part and len(part.intersection(key.streams)) < 2
