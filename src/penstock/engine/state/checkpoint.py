"""Checkpoints: whose they are, and that only one run uses them at a time."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from penstock.engine.places.file_names import is_mark, new_mark
from penstock.engine.places.place import Place
from penstock.engine.state import manifest as manifests
from penstock.engine.state.asked_words import first_difference
from penstock.engine.state.hold import IDENTITY, MARK, SCRIPT, Hold
from penstock.engine.state.manifest import newest
from penstock.engine.state.store import RESTORE, Store
from penstock.engine.state.upkeep.going_back import go_back
from penstock.engines import BatchEngine
from penstock.errors import CheckpointError
from penstock.query import Condition, Query
from penstock.query.expression import render
from penstock.query.joins.outer import OuterJoins
from penstock.query.query import Input
from penstock.query.view import View
from penstock.query.window import RowsWindow, TimeWindow, Window, render_window

FORMAT_VERSION = 1
_CHECKSUM = "checksum"
_LATE = "late filters"
_WINDOWS = "windows"
_BEFORE = "before"
_UNTIL = "until batch"
Identity = Mapping[str, Any]
"""The facts of a query that decide what state means, as JSON has them."""
OTHER_QUERY = (
    "use another --checkpoint, run the query that made this one, or go on with its state by "
    "--change"
)
_OUTER = "outer join"
_LISTED = ("inputs", "equalities")
_NAMED = ("columns", "event times")
"""The parts of an identity that tell of one input after another."""
_REFRESHED = "tables that change"


class Checkpoint:
    """A folder with the state of one query. Closing it lets another run use it."""

    def __init__(
        self,
        root: str,
        query: Query,
        partitions: int,
        *,
        engine: BatchEngine,
        is_given: bool = False,
        hold: Hold | None = None,
        change: bool = False,
        final: int | None = None,
        has_batches: bool | None = None,
        may_narrow: bool = False,
    ):
        """The folder of a query; with `change` of one that asks otherwise than the one before.

        `final` is the last batch that is, and `has_batches` tells whether it is one of this query
        too, where another folder has the manifests. One that `may_narrow` finds combinations for
        others, and lacks the inputs of those who have left.
        """
        self.hold = Hold(root) if hold is None else hold
        self.late = late_filters(query)
        self._may_narrow = may_narrow
        self.changed: Identity | None = None
        self._mine: Identity = {}
        self._final = final
        try:
            if not self.store.is_local:
                # Who asks something else must not fence off the run that is there.
                self._claim(query, partitions, engine, is_given, change)
            self.hold.take_over()
            go_back(self.store)
            if not self.store.exists(SCRIPT):
                refuse_lost_names(self.store, IDENTITY, has_batches)
            self.partitions = self._claim(query, partitions, engine, is_given, change)
            self.mark = marked(self.store)
            if final is None:
                manifests.make_room(self.store)
        except BaseException:
            self.close()
            raise

    @property
    def store(self) -> Store:
        """The files."""
        return self.hold.store

    def close(self) -> None:
        """Release the lock."""
        self.hold.close()

    def adopt(self) -> None:
        """Have the checkpoint be that of the query as it is now asked: from the next batch on that
        becomes final, the state is of it."""
        if self.changed is None:
            return
        final = self._final_batch()
        mine = dict(self._mine) | {_LATE: list(self.late)}
        if final is not None:
            mine |= {_BEFORE: dict(self.changed), _UNTIL: final}
        self.store.replace(IDENTITY, _written(mine))

    def _final_batch(self) -> int | None:
        if self._final is not None:
            return self._final
        found = manifests.latest(self.store)
        return None if found is None else found.batch

    def _of_state(self, theirs: dict[str, Any]) -> dict[str, Any]:
        """The identity of the query whose state is there: where a run has changed the query, and
        died before a batch was final, that of the one before."""
        before, until = theirs.pop(_BEFORE, None), theirs.pop(_UNTIL, None)
        return theirs if before is None or self._final_batch() != until else dict(before)

    def _claim(
        self, query: Query, partitions: int, engine: BatchEngine, is_given: bool, change: bool
    ) -> int:
        """The partition count to use: the checkpoint's own if it has one."""
        if self.store.exists(SCRIPT):
            raise CheckpointError(
                f"checkpoint {self.store.root} belongs to a script of several queries",
                hint="use another --checkpoint, or run the script that made this one",
            )
        mine = {"engine": engine, **identity_of(query, partitions), _LATE: list(self.late)}
        if not is_claimed(self.store):
            # Where there is no lock, another run may have been faster: then that one's counts.
            with suppress(FileExistsError):
                self.store.publish(IDENTITY, _written(mine))
                return partitions
        written = _read_identity(self.store)
        theirs = self._of_state(written)
        kept = int(theirs["partitions"])
        refuse_other_running(self.store, theirs, engine, partitions if is_given else kept)
        mine["partitions"] = kept
        late = tuple(theirs.pop(_LATE, ()))
        if self._may_narrow and _difference(_within(theirs, mine), mine) is None:
            self.late = late
            return kept
        if _difference(theirs, mine) is None:
            self.late = late
            if written is not theirs:  # The query is again what it was before it was changed.
                self.store.replace(IDENTITY, _written({**theirs, _LATE: list(late)}))
            return kept
        is_agreed = written is not theirs and _difference(written, mine) is None
        if not change and not is_agreed:
            _refuse_other(self.store, theirs, mine, OTHER_QUERY)
        self.changed = {**theirs, _LATE: list(late)}
        self._mine = {key: value for key, value in mine.items() if key != _LATE}
        filters = (*mine["filters"], *mine["other predicates"])
        self.late = tuple(each for each in late if each in filters)
        return kept

    def placed(self, query: Query) -> Query:
        """The query with its filters before or after the joins as the state has been filtered."""
        conditions = (*query.filters, *query.thetas)
        return replace(
            query,
            filters=tuple(c for c in conditions if _is_filter(c) and str(c) not in self.late),
            thetas=tuple(c for c in conditions if not _is_filter(c) or str(c) in self.late),
        )


def refuse_other_running(
    store: Store, theirs: Identity, engine: BatchEngine, partitions: int
) -> None:
    """Refuse what no run can change: the engine, and the partitions, since with others nothing of
    the state would be found."""
    if theirs["engine"] != engine:
        # On Spark it is Spark that numbers the batches, and it would start from the first.
        raise CheckpointError(
            f"checkpoint {store.root} was made by --engine {theirs['engine']}",
            hint="run it on that engine, or use another --checkpoint",
        )
    if int(theirs["partitions"]) != partitions:
        raise CheckpointError(
            f"checkpoint {store.root} has {theirs['partitions']} partitions, not {partitions}",
            hint="leave --partitions out, or use another --checkpoint",
        )


def refuse_lost_names(store: Store, identity: str, has_batches: bool | None = None) -> None:
    """Refuse a checkpoint with batches of which nobody knows any more whose they are: a file that
    says so would be made anew, for another query perhaps, or with another mark."""
    if bool(manifests.manifest_names(store)) if has_batches is None else has_batches:
        for name in (identity, MARK):
            if not store.exists(name):
                raise CheckpointError(
                    f"{store.path(name)} is missing, and there are batches already", hint=RESTORE
                )


def marked(store: Store) -> str:
    """The mark on all files that come from a checkpoint, wherever they lie; a new one has one from
    now on."""
    if not store.exists(MARK):
        with suppress(FileExistsError):
            store.publish(MARK, new_mark().encode())
    return mark_of(store)


def mark_of(store: Store) -> str:
    """The mark of a checkpoint that has one."""
    mark = bytes(store.read(MARK)).decode(errors="replace")
    if not is_mark(mark):
        raise CheckpointError(
            f"{store.path(MARK)} is damaged: {mark[:40]!r} is not what a run wrote",
            hint=RESTORE,
        )
    return mark


def is_claimed(store: Store) -> bool:
    """Whether some run has made a checkpoint there."""
    return store.exists(IDENTITY) or store.exists(SCRIPT)


def is_of_script(checkpoint: str) -> bool:
    """Whether there is a checkpoint of a script that asked several queries."""
    return Store(Place.of(checkpoint)).exists(SCRIPT)


def late_filters(query: Query) -> tuple[str, ...]:
    """The filters that wait for the results of the joins, and so have not thinned out the state."""
    return tuple(sorted(str(c) for c in query.thetas if _is_filter(c)))


def member_names(store: Store) -> tuple[str, ...]:
    """The queries of a script, as its newest manifest has them; none before its first batch."""
    made = newest(store, 1)
    return tuple(sorted(made[0].members)) if made else ()


def _is_filter(condition: Condition) -> bool:
    return len(condition.streams) < 2


def is_same_query(one: Query, other: Query) -> bool:
    """Whether state of the one is state of the other: a checkpoint of either takes both."""
    return identity_of(one, 0) == identity_of(other, 0)


def identity_of(query: Query, partitions: int) -> dict[str, Any]:
    """The facts of a query that decide what state means: those of a checkpoint must be the same."""
    conditions = (*query.filters, *query.thetas)
    parts = {} if query.view is None else {"view": _describe(query.view)}
    if query.outer is not None:
        parts[_OUTER] = _describe_joins(query.outer)
    refreshed = sorted(s.name for s in query.sources.values() if s.refresh is not None)
    if refreshed:
        parts[_REFRESHED] = refreshed
    return parts | {
        "format": FORMAT_VERSION,
        "partitions": partitions,
        "inputs": [f"{i.source.name} [{_window(i)}] AS {i.alias}" for i in query.inputs],
        _WINDOWS: {i.alias: _measures(i.window) for i in query.inputs},
        "columns": {
            i.source.name: [f"{f.name} {f.type}" for f in i.source.fields] for i in query.inputs
        },
        "event times": {
            i.source.name: [i.source.timestamp, i.source.unit, i.source.lateness]
            for i in query.inputs
        },
        "equalities": [str(e) for e in query.equalities],
        "filters": sorted(str(c) for c in conditions if _is_filter(c)),
        "other predicates": sorted(str(c) for c in conditions if not _is_filter(c)),
        "outputs": [f"{render(o.expression)} AS {o.name}" for o in query.outputs],
    }


def _window(item: Input) -> str:
    by = ", ".join(item.source.key or ())
    return f"as it is by {by}" if item.source.is_kept else render_window(item.window)


def _measures(window: Window | None) -> dict[str, int | None] | None:
    """A window in numbers, by which it can be told which of two is the longer."""
    match window:
        case TimeWindow(extent=extent, slide=slide):
            return {"extent": extent, "slide": slide}
        case RowsWindow(count=count):
            return {"count": count}
    return None


def refuse_other_query(store: Store, query: Query, hint: str) -> None:
    """Refuse a query that is not the one of a checkpoint."""
    theirs = _read_identity(store)
    theirs.pop("engine", None)
    _refuse_other(store, theirs, identity_of(query, int(theirs["partitions"])), hint)


def _difference(theirs: Identity, mine: Identity) -> str | None:
    """The first part of a query's identity that is another; None if it is the same query."""
    # A query without an outer join, or a table that changes, says nothing of one.
    parts = {_OUTER: None, _REFRESHED: None} | {**theirs}
    skipped = (_LATE, _BEFORE, _UNTIL, _WINDOWS)
    compared = ((part, found) for part, found in parts.items() if part not in skipped)
    return next((part for part, found in compared if found != mine.get(part)), None)


def _within(theirs: Identity, mine: Identity) -> Identity:
    """What is left of an identity with the inputs that another one has."""
    lists = {part: [each for each in theirs[part] if each in mine[part]] for part in _LISTED}
    named = {
        part: {name: found for name, found in theirs[part].items() if name in mine[part]}
        for part in _NAMED
    }
    return {**theirs, **lists, **named}


def _refuse_other(store: Store, theirs: Identity, mine: Identity, hint: str) -> None:
    part = _difference(theirs, mine)
    if part is not None:
        name, old, new = first_difference(part, theirs, mine)
        raise CheckpointError(
            f"checkpoint {store.root} belongs to another query: its {name} differ\n"
            f"  checkpoint: {old}\n  this query: {new}",
            hint=hint,
        )


def _written(identity: Identity) -> bytes:
    """An identity as a file, with a checksum: with other partitions nothing would be found."""
    return json.dumps({**identity, _CHECKSUM: _checksum(identity)}, indent=1).encode()


def _checksum(identity: Identity) -> int:
    return zlib.crc32(json.dumps(identity, sort_keys=True).encode())


def _read_identity(store: Store) -> dict[str, Any]:
    try:
        found: Any = json.loads(bytes(store.read(IDENTITY)))
        if not isinstance(found, dict) or not {"partitions", "engine"} <= found.keys():
            raise ValueError("it is not what a run wrote")
        # Earlier versions wrote none.
        if found.pop(_CHECKSUM, None) not in (None, _checksum(found)):
            raise ValueError("wrong checksum")
        refuse_newer(store, found.get("format"), FORMAT_VERSION)
        # A plan may put predicates in another order; it is the same query.
        for part in ("filters", "other predicates"):
            found[part] = sorted(found.get(part, ()))
    except ValueError as error:
        raise CheckpointError(
            f"{store.path(IDENTITY)} is damaged: {error}",
            hint=RESTORE,
        ) from None
    return found


def refuse_newer(store: Store, format_: object, known: int) -> None:
    """Refuse a checkpoint in a format that only later versions know."""
    if isinstance(format_, int) and format_ > known:
        raise CheckpointError(
            f"checkpoint {store.root} is of a later version of Penstock: its format is {format_}, "
            f"and this version knows those up to {known}",
            hint="update Penstock, or use another --checkpoint",
        )


def _describe_joins(outer: OuterJoins) -> list[str]:
    """Outer joins in words: of each its kind and inputs, and the conditions that are not
    predicates."""
    found: list[str] = []
    for join in outer.joins:
        found += [
            f"{join.kind} {', '.join(join.preserved)}: {join.nullable}",
            ", ".join(sorted(map(str, (*join.equalities, *join.thetas)))),
            ", ".join(sorted(map(str, join.alone))),
        ]
    return [*found, ", ".join(sorted(map(str, outer.after)))]


def _describe(view: View) -> list[str]:
    """A view in words: groups, aggregates, outputs, HAVING, its period, and its first rows."""
    aggregates = (
        f"{a.function} {a.argument and a.argument.name}"
        + ("" if a.fraction is None else f" {a.fraction}")
        for a in view.aggregates
    )
    return [
        ", ".join(column.name for column in view.groups),
        ", ".join(aggregates),
        ", ".join(f"{render(o.expression)} AS {o.name}" for o in view.outputs),
        "" if view.having is None else render(view.having),
        f"{view.every} us",
        *([] if view.top is None else [f"{view.top}, {view.top.copies is not None}"]),
    ]
