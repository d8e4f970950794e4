"""Leavings: what earlier runs of a script have left to be done, or to be cleared away."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.engine.run.changed.carrying import Carrying
from penstock.engine.script.script_checkpoint import ScriptCheckpoint
from penstock.engine.sinks.malformed_rows import publish_kept
from penstock.engine.sinks.publish import is_unpublished, publish_once, staging_of
from penstock.engine.sinks.sink import Sink
from penstock.engine.sources.derived_rows import forget_derived
from penstock.engine.state.checkpoint import mark_of
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store, member_store
from penstock.errors import CheckpointError
from penstock.query.script import Script


def refuse_closed_script(checkpoint: ScriptCheckpoint, found: Manifest | None) -> None:
    """Refuse a checkpoint whose run was drained, once its end has been made up for."""
    if found is None or not found.is_closed:
        return
    for name, made in found.members.items():
        store = member_store(checkpoint.store, name)
        _show_last(store, made)
        listed = {chunk.name for chunk in made.chunks()}
        store.remove([name for name in store.names("state") if name not in listed])
    publish_kept(checkpoint.store, found.kept)
    forget_derived(checkpoint.store)
    raise CheckpointError(
        f"checkpoint {checkpoint.store.root} is closed: its run was drained",
        hint="its streams ended there; start anew with another --checkpoint",
    )


class Gone:
    """Queries that the script does not have any more; what they have found is shown.

    Their state stays for as long as a manifest has it that may be gone back to: the newest, and
    the one before.
    """

    def __init__(
        self, checkpoint: ScriptCheckpoint, standing: Manifest, before: Manifest | None
    ) -> None:
        self._store = checkpoint.store
        self._last: dict[str, int] = {}
        for manifest in (standing, *([] if before is None else [before])):
            for name, made in manifest.members.items():
                if name not in checkpoint.members and name not in self._last:
                    self._last[name] = manifest.batch
                    _show_last(member_store(self._store, name), made)

    def sweep(self, oldest: int) -> None:
        """Clear the state of those away whom no manifest from `oldest` on has."""
        for name in [name for name, batch in self._last.items() if batch < oldest]:
            store = member_store(self._store, name)
            store.remove(store.names("state"))
            del self._last[name]


def refuse_latecomers(script: Script, standing: Manifest) -> None:
    """Refuse a query that is new to a script which has run, where it would need what was before:
    the rows of a table, or what a view shows."""
    known = standing.members
    asked = [member for member in script.members if not script.takers(member.name)]
    for member in asked if known else ():
        for item in () if member.name in known else member.query.inputs:
            is_table = item.is_table or item.source.is_kept
            is_read = is_table and standing.offsets.get(item.source.name, 0) > 0
            is_met = item.is_relation and not known.keys().isdisjoint(item.source.makers)
            if is_read or is_met:
                what = "table" if is_read else "view"
                raise CheckpointError(
                    f"{member.name} is new to this checkpoint, and the {what} {item.source.name} "
                    "was read before it came",
                    hint="start with another --checkpoint, or leave the new query to another run",
                )


def check_changes(checkpoint: ScriptCheckpoint, script: Script, found: Manifest | None) -> None:
    """Refuse queries that were changed, and cannot go on with the state that is there."""
    known = {} if found is None else found.members
    for member in script.members:
        held = checkpoint.members[member.name]
        if held.changed is not None:
            standing = known.get(member.name, Manifest(batch=-1))
            Carrying(held, member.query, standing, _sharers(member.name, known)).check()


def _sharers(name: str, known: Mapping[str, Manifest]) -> tuple[str, ...]:
    """The queries that share a join with one, who finds it among them."""
    for maker, made in known.items():
        group = (maker, *made.takers) if made.takers else ()
        if name in group:
            return tuple(each for each in group if each != name)
    return ()


def _show_last(store: Store, made: Manifest) -> None:
    """Show what is final of a query, if a crash has kept it from being seen."""
    shown = Sink.named(made.sink)
    mark = mark_of(store)
    staging = staging_of(shown, store, mark)
    if is_unpublished(shown, made, staging):
        publish_once(shown, made, staging, mark, store)
