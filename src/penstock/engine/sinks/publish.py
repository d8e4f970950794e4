"""Publish: make a batch's staged results visible, once, however often it is tried."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from pyarrow import fs

from penstock.engine.places import disk
from penstock.engine.places.appending import append, is_in_the_way, make_way
from penstock.engine.places.file_names import (
    batch_of_part,
    begun_name,
    is_begun,
    is_staged,
    mark_of_part,
    new_mark,
    part_name,
    staging_name,
)
from penstock.engine.places.objects import hint_for, is_object_store, move_object, reason_of
from penstock.engine.places.place import Place
from penstock.engine.places.side_by_side import side_by_side
from penstock.engine.sinks import ledger
from penstock.engine.sinks.kafka.topic_writer import TopicWriter, check_topic
from penstock.engine.sinks.sink import Sink, Staging
from penstock.engine.sources.files import is_read, placed
from penstock.engine.state.manifest import Manifest, Part, StagedPart, refuse_overtaken
from penstock.engine.state.store import Store
from penstock.engine.state.upkeep.known_sinks import known_sinks
from penstock.errors import SinkError
from penstock.query import Query
from penstock.query.source import Source

_SHOWN = 3


def staging_of(sink: Sink, store: Store, mark: str) -> Staging | None:
    """Where tasks write results for a sink: each checkpoint by itself, whoever shares the sink."""
    match sink.kind:
        case "parquet":
            return Staging("parquet", ledger.staging_in(sink.place, mark))
        case "jsonl":
            file = sink.place
            return Staging("jsonl", file.parent / staging_name(file.name, mark))
        case "kafka":
            return Staging("records", store.root / "staging")
        case "console":
            return Staging("jsonl", store.root / "staging")
        case "foreach_batch":
            return Staging("parquet", store.root / "staging")
        case "noop":
            return None


def staged_below(sink: Sink) -> Place | None:
    """The folder below which tasks stage results of a sink that has files; None for others, whose
    results are staged in the checkpoint."""
    if sink.path is None:
        return None
    return sink.path / ledger.FOLDER if sink.kind == "parquet" else sink.path.parent


def is_new_to(sink: Sink, standing: Manifest | None, store: Store) -> bool:
    """Whether a checkpoint has not written to a sink before."""
    names = [each.sink for each in known_sinks(store)]
    if standing is not None and standing.sink:
        names.append(standing.sink)
    return all(Sink.named(name) != sink for name in names)


def refuse_read(sink: Sink, sources: Iterable[Source]) -> None:
    """Refuse results among the files that a source reads: they would become its rows."""
    if sink.path is None:
        return
    file = sink.path / part_name(0, 0, new_mark()) if sink.kind == "parquet" else sink.path
    for source in sources:
        caret = source.places.get("path")
        if source.path is not None and is_read(placed(source.path, caret), file):
            raise SinkError(
                f"the results in {sink.place} would be read as rows of {source.name}",
                place=caret,
                hint="name a sink that is not among the files of the query's streams",
            )


def check_sink(
    sink: Sink, query: Query, *, is_new: bool, overwrite: bool, mark: str | None = None
) -> None:
    """Refuse a sink whose results a new run would mix with its own, which have the mark; changes
    nothing."""
    if sink.topic is not None:
        check_topic(sink.topic, query, overwrite=is_new and overwrite)
    if sink.path is None:
        return
    refuse_read(sink, query.sources.values())
    place = sink.place
    if sink.kind == "jsonl" and not (place.is_local and place.names):
        raise SinkError(
            f"a jsonl sink must be a local file, not {place}", hint="use a parquet sink there"
        )
    with _using(place):
        if sink.kind == "jsonl" and os.path.isdir(place):
            raise SinkError(f"{place} is a folder", hint="name a file for lines of JSON")
        if sink.kind == "parquet" and (is_new or _was_taken(place, mark, overwrite)):
            _parts_in_the_way(place, overwrite, mark)
        elif is_new and sink.kind == "jsonl" and is_in_the_way(place, overwrite):
            raise _held(place)


def _was_taken(folder: Place, mark: str | None, overwrite: bool) -> bool:
    """Whether another checkpoint has overwritten the results of this one; refused, unless these are
    to be overwritten in turn."""
    if mark is None or not ledger.is_taken(folder, mark):
        return False
    if not overwrite:
        raise SinkError(
            f"the results of this checkpoint in {folder} were overwritten by another one",
            hint="choose another place, or --overwrite those in turn",
        )
    return True


def prepare(sink: Sink, mark: str, query: Query, *, is_new: bool, overwrite: bool) -> None:
    """Make a sink ready for the first batch: files are empty, if they are new to the run."""
    check_sink(sink, query, is_new=is_new, overwrite=overwrite, mark=mark)
    if sink.path is None:
        return
    place = sink.place
    with _using(place):
        if is_new and sink.kind == "jsonl":
            make_way(place, overwrite)
        if sink.kind == "parquet" and (is_new or ledger.is_taken(place, mark)):
            ledger.clear(place, _parts_in_the_way(place, overwrite, mark), mark)
        if sink.kind == "parquet":
            ledger.enter(place, mark)


@contextmanager
def _using(place: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = reason_of(place, error)
        raise SinkError(
            f"cannot use {place} as a sink: {reason}",
            hint=hint_for(reason) or "name a place that can be written with --sink",
        ) from None


def _parts_in_the_way(folder: Place, overwrite: bool, mark: str | None) -> tuple[str, ...]:
    """The parquet files to delete from a folder: none but Penstock's own, of other checkpoints."""
    found = ledger.content_of(folder, mark)
    if overwrite:
        ledger.refuse_writers(folder, mark)
    if found.own and not overwrite:
        raise _held(folder)
    if found.foreign:
        shown = ", ".join(found.foreign[:_SHOWN])
        more = len(found.foreign) - _SHOWN
        raise SinkError(
            f"{folder} holds parquet files that Penstock did not write, and does not delete: "
            f"{shown}{f' and {more} more' if more > 0 else ''}",
            hint="whoever reads the folder would take them for results: move them, "
            "or choose another place",
        )
    return found.own


def _held(place: Place) -> SinkError:
    return SinkError(
        f"{place} already holds results",
        hint="choose another place, give the --checkpoint they came with, or --overwrite",
    )


def as_parts(sink: Sink, mark: str, batch: int, staged: list[StagedPart]) -> tuple[Part, ...]:
    """Staged files with the names that they will be published under."""
    if sink.kind != "parquet":
        return tuple(Part(s.staged, "", s.rows, s.size) for s in staged)
    folder = sink.place.path.rstrip("/")
    return tuple(
        Part(s.staged, f"{folder}/{part_name(batch, n, mark)}", s.rows, s.size)
        for n, s in enumerate(staged)
    )


def remove_beyond(sink: Sink, mark: str, batch: int, store: Store) -> None:
    """Remove the results of batches after one, which will be run again: they were made by a run
    that had come further, before the checkpoint was damaged or restored from a copy."""
    if sink.kind == "parquet":
        with _using(sink.place):
            names = [name for name, _ in sink.place.files() if mark_of_part(name) == mark]
            beyond = [name for name in names if batch_of_part(name) > batch]
            if beyond:
                refuse_overtaken(store, batch)
                sink.place.delete(beyond)


def publish(
    sink: Sink,
    manifest: Manifest,
    staging: Staging | None,
    writer: TopicWriter | None = None,
) -> None:
    """Show the results of a final batch, which were staged. Trying again after a crash changes
    nothing, and what was published is up to its user.

    Only a topic has a `writer`, which should be the same from batch to batch.
    """
    begun = None if staging is None else staging.folder / begun_name(manifest.batch)
    try:
        match sink.kind:
            case "parquet":
                _publish_files(sink.place, manifest)
            case "jsonl":
                _append(sink, manifest, begun)
            case "kafka":
                assert writer is not None, "a topic has a writer"
                writer.publish(manifest)
    except OSError as error:
        raise SinkError(
            f"cannot publish results to {sink.topic or sink.path}: {error.strerror or error}",
            hint="nothing is lost: mend the sink, then run again on this checkpoint",
        ) from None


def publish_once(
    sink: Sink, manifest: Manifest, staging: Staging | None, mark: str, store: Store
) -> None:
    """Show the results of a final batch that no other follows, and remove what was staged."""
    writer = writer_to(sink, staging, mark)
    try:
        publish(sink, manifest, staging, writer)
    finally:
        if writer is not None:
            writer.close()
    if store.fence is None:
        clean(staging)


def writer_to(sink: Sink, staging: Staging | None, mark: str) -> TopicWriter | None:
    """The writer of a sink that is a topic."""
    if sink.topic is None or staging is None:
        return None
    return TopicWriter(sink.topic, staging.folder, mark)


def is_unpublished(sink: Sink, manifest: Manifest, staging: Staging | None) -> bool:
    """Whether staged results of a final batch are still there, as after a crash."""
    if not sink.is_exact or staging is None:
        return False
    return staging.folder.has_any([part.staged for part in manifest.parts])


def length_of(sink: Sink) -> int:
    """The length of a jsonl file, 0 if there is none."""
    if sink.kind != "jsonl" or not os.path.exists(sink.place):
        return 0
    return os.path.getsize(sink.place)


def print_results(staging: Staging | None, parts: tuple[Part, ...]) -> None:
    """Copy staged JSON lines to standard output."""
    assert staging is not None, "what is printed was staged"
    sys.stdout.flush()
    for part in parts:
        with staging.folder.filesystem.open_input_stream(part.staged) as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def clean(staging: Staging | None, store: Store | None = None) -> None:
    """Remove what tasks staged and nobody published; a run that was fenced off from its store may
    not."""
    if staging is not None:
        folder = staging.folder
        with _using(folder):
            staged = [name for name, _ in folder.files() if is_staged(name)]
            if staged and store is not None:
                store.refuse_fenced()
            # Last goes what tells in which file they were begun to be published.
            folder.delete(sorted(staged, key=lambda name: (is_begun(name), name)))
            folder.delete_if_empty()


def _publish_files(folder: Place, manifest: Manifest) -> None:
    side_by_side(partial(_publish_some, folder), manifest.parts)


def _publish_some(folder: Place, parts: Sequence[Part]) -> None:
    for part, size in zip(parts, _staged_sizes(folder, parts), strict=True):
        if size is not None:
            _check_size(size, part)
            _move(folder, part)


def _staged_sizes(folder: Place, parts: Sequence[Part]) -> Iterator[int | None]:
    """The bytes of each staged file, None of one that is not there."""
    if folder.is_local:
        return (_size(part.staged) for part in parts)
    infos = folder.filesystem.get_file_info([part.staged for part in parts])
    return (info.size if info.type == fs.FileType.File else None for info in infos)


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return None


def _check_size(size: int, part: Part) -> None:
    if size != part.size:
        raise SinkError(
            f"results are damaged: {part.staged} has {size:,} bytes of {part.size:,}",
            hint="nothing is lost: run again on this checkpoint",
        )


def _move(folder: Place, part: Part) -> None:
    if folder.is_local:
        disk.replace(part.staged, part.final)
        return
    if not is_object_store(folder):
        folder.filesystem.move(part.staged, part.final)
        return
    final = folder.at(part.final)
    try:
        move_object(folder.at(part.staged), final)
    except FileNotFoundError:
        if not final.exists:  # A run that was fenced off has shown what it had made final.
            raise


def _append(sink: Sink, manifest: Manifest, begun: Place | None) -> None:
    total = manifest.sink_length + sum(part.size for part in manifest.parts)
    filesystem = sink.place.filesystem
    sizes = list(_staged_sizes(sink.place, manifest.parts))
    is_there = None not in sizes
    for size, part in zip(sizes, manifest.parts, strict=True):
        if is_there and size is not None:
            _check_size(size, part)
    parts = (filesystem.open_input_stream(part.staged) for part in manifest.parts)
    append(sink.place, manifest.sink_length, total, parts if is_there else None, begun)
