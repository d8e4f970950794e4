"""The checkpoint of a script: a folder with one for each of its queries in it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import (
    Checkpoint,
    is_claimed,
    marked,
    refuse_lost_names,
    refuse_newer,
    refuse_other_running,
)
from penstock.engine.state.hold import SCRIPT, Hold, PartHold
from penstock.engine.state.store import RESTORE, Store, member_store
from penstock.engine.state.upkeep.going_back import go_back
from penstock.engines import BatchEngine
from penstock.errors import CheckpointError
from penstock.query import Query

FORMAT_VERSION = 1


class ScriptCheckpoint:
    """A folder with the state of a script. Closing it lets another run use it.

    What belongs to the sources and to the batches lies at its root, and what belongs to a query in
    that query's own checkpoint below. Queries may be added and taken away from run to run; one that
    stays must ask the same, or be changed as a single query may.
    """

    members: Mapping[str, Checkpoint]
    """The checkpoints of the queries, by name."""

    def __init__(
        self,
        root: str,
        queries: Mapping[str, Query],
        partitions: int,
        *,
        engine: BatchEngine,
        is_given: bool = False,
        hold: Hold | None = None,
        change: bool = False,
        makers: Collection[str] = (),
    ):
        """The folder of a script; `makers` are the queries that find combinations for others."""
        self.hold = Hold(root) if hold is None else hold
        try:
            if not self.store.is_local:
                # Another script must not fence off the run that is there.
                self._claim(partitions, engine, is_given)
            self.hold.take_over()
            go_back(self.store)
            if not is_claimed(self.store):
                refuse_lost_names(self.store, SCRIPT)
            self.partitions = self._claim(partitions, engine, is_given)
            self.mark = marked(self.store)
            manifests.make_room(self.store)
            found = manifests.latest(self.store)
            self.members = {
                name: Checkpoint(
                    "",
                    query,
                    self.partitions,
                    engine=engine,
                    is_given=True,
                    hold=PartHold(member_store(self.store, name)),
                    change=change,
                    final=-1 if found is None else found.batch,
                    has_batches=found is not None and name in found.members,
                    may_narrow=name in makers,
                )
                for name, query in queries.items()
            }
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

    def _claim(self, partitions: int, engine: BatchEngine, is_given: bool) -> int:
        """The partition count to use: the checkpoint's own if it has one."""
        if not is_claimed(self.store):
            mine = {"format": FORMAT_VERSION, "engine": engine, "partitions": partitions}
            # Where there is no lock, another run may have been faster: then that one's counts.
            with suppress(FileExistsError):
                self.store.publish(SCRIPT, json.dumps(mine, indent=1).encode())
                return partitions
        theirs = _identity(self.store)
        kept = int(theirs["partitions"])
        refuse_other_running(self.store, theirs, engine, partitions if is_given else kept)
        return kept


def _identity(store: Store) -> dict[str, Any]:
    if not store.exists(SCRIPT):
        raise CheckpointError(
            f"checkpoint {store.root} belongs to a single query, not to a script of several",
            hint="use another --checkpoint, or run the query that made this one",
        )
    try:
        found: dict[str, Any] = json.loads(bytes(store.read(SCRIPT)))
        if not {"format", "engine", "partitions"} <= found.keys():
            raise ValueError("it is not what a run wrote")
        refuse_newer(store, found["format"], FORMAT_VERSION)
    except ValueError as error:
        raise CheckpointError(f"{store.path(SCRIPT)} is damaged: {error}", hint=RESTORE) from None
    return found
