"""Preflight: refuse at once what a start would refuse, before anything slow is started."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing

from penstock.engine.places.place import Place
from penstock.engine.run.changed.carrying import Carrying
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.malformed_rows import publish_kept
from penstock.engine.sinks.publish import (
    check_sink,
    is_new_to,
    is_unpublished,
    publish_once,
    staging_of,
)
from penstock.engine.sinks.sink import Sink
from penstock.engine.sources.feed import (
    refuse_endless,
    refuse_missing_frames,
    refuse_sources_of_spark,
)
from penstock.engine.sources.files import absolute, list_files
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import Checkpoint, is_claimed, mark_of
from penstock.engine.state.hold import check_folder
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.engines import BatchEngine
from penstock.errors import CheckpointError
from penstock.query import Query
from penstock.query.source import FILE_FORMATS, Source


def check_start(
    query: Query, options: RunOptions, engine: BatchEngine, frames: Collection[str] = ()
) -> None:
    """Refuse a run that may not start, by what can be seen without starting it.

    `frames` are the streams and tables whose DataFrames were given.
    """
    found, mark, store = None, None, Store(Place.of(options.checkpoint))
    check_folder(store)
    if is_claimed(store) and not store.is_local:
        # To hold it would fence off a run that is there; the start looks at all of it.
        made = manifests.newest(store, 1)
        found, mark = (made[0], mark_of(store)) if made else (None, None)
    elif is_claimed(store):
        count, is_given = options.partitions or 1, options.partitions is not None
        held = Checkpoint(
            options.checkpoint,
            query,
            count,
            engine=engine,
            is_given=is_given,
            change=options.change,
        )
        with closing(held):
            found, mark = manifests.latest(held.store), held.mark
            refuse_closed(held, found)
            if held.changed is not None:
                Carrying(held, query, found or Manifest(batch=-1)).check()
    refuse_one_folder(options.sink, store)
    is_new = is_new_to(options.sink, found, store)
    check_sink(options.sink, query, is_new=is_new, overwrite=options.overwrite, mark=mark)
    check_sources(query.sources.values(), options, engine, frames)


def refuse_one_folder(sink: Sink, store: Store) -> None:
    """Refuse results among the files of the state."""
    if sink.path == store.root:
        raise CheckpointError(
            f"{sink.place} cannot be both the sink and the checkpoint",
            hint="name another folder with --checkpoint",
        )


def check_sources(
    declared: Collection[Source],
    options: RunOptions,
    engine: BatchEngine,
    frames: Collection[str],
) -> None:
    """Refuse sources that cannot be read, or not to their end."""
    if engine == "local":
        refuse_sources_of_spark(declared)
    refuse_missing_frames(declared, frames)
    sources = [absolute(source) for source in declared]
    if options.available_now:
        refuse_endless(sources)
    for source in sources:
        if source.format in FILE_FORMATS and source.path is not None:
            list_files(source.path, source.places.get("path"))
        if source.format == "kafka":
            from penstock.engine.sources.kafka.offsets import partitions_of

            partitions_of(source)


def refuse_closed(checkpoint: Checkpoint, found: Manifest | None) -> None:
    """Refuse a checkpoint whose run was drained, once its end has been made up for."""
    if found is None or not found.is_closed:
        return
    shown = Sink.named(found.sink)
    staging = staging_of(shown, checkpoint.store, checkpoint.mark)
    if is_unpublished(shown, found, staging):
        publish_once(shown, found, staging, checkpoint.mark, checkpoint.store)
    publish_kept(checkpoint.store, found.kept)
    listed = {chunk.name for chunk in found.chunks()}
    left = [name for name in checkpoint.store.names("state") if name not in listed]
    checkpoint.store.remove(left)  # Only after a crash is there something.
    raise CheckpointError(
        f"checkpoint {checkpoint.store.root} is closed: its run was drained",
        hint="its streams ended there; start anew with another --checkpoint",
    )
