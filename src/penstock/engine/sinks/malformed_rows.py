"""Keeping malformed rows: tasks stage them, the driver appends them once a batch is final."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from penstock import errors
from penstock.engine.places import disk
from penstock.engine.places.appending import append, cut_back, make_way
from penstock.engine.places.file_names import staged_name
from penstock.engine.places.place import Place
from penstock.engine.sinks.sink import Sink
from penstock.engine.sources.files import is_read
from penstock.engine.state.manifest import KeptFile, Manifest, Part, StagedPart
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import Fact, KeptRows, of_kind
from penstock.errors import SinkError
from penstock.query.source import Source

_FOLDER = "malformed"


def kept_at(source: Source) -> Place | None:
    """The file that a source's malformed rows are kept in."""
    path = source.keeps_malformed_at
    return None if path is None else Place.of(path)


def stage_kept(root: Place, lines: bytes) -> StagedPart:
    """Write lines of malformed rows below a checkpoint's root, for the driver to append."""
    name = f"{_FOLDER}/{staged_name('jsonl')}"
    Store(root).write(name, lines)
    return StagedPart(name, lines.count(b"\n"), len(lines))


def prepare_keeping(
    sources: Iterable[Source], manifest: Manifest, sink: Sink, *, overwrite: bool
) -> tuple[KeptFile, ...]:
    """The files of malformed rows before the next batch, each as the batches so far left it.

    A new one must not hold the rows of others.
    """
    every = list(sources)
    files = {file.path: replace(file, before=file.length, parts=()) for file in manifest.kept}
    for source in every:
        place = kept_at(source)
        if place is None:
            continue
        _check_use(source, place, every, sink)
        if place.text in files:
            files[place.text] = _found(source, files[place.text], overwrite)
        else:
            _make_room(source, place, overwrite)
            files[place.text] = KeptFile(place.text)
    return tuple(files.values())


def with_rows(
    files: Sequence[KeptFile], sources: Iterable[Source], facts: Iterable[Fact]
) -> tuple[KeptFile, ...]:
    """The files with what the tasks of a batch have staged, in the order of the input."""
    places = {source.name: kept_at(source) for source in sources}
    order = list(places)
    staged: dict[Place | None, list[Part]] = {}
    mine = of_kind(facts, KeptRows)
    for fact in sorted(mine, key=lambda fact: (order.index(fact.source), fact.at)):
        part = Part(fact.part.staged, "", fact.part.rows, fact.part.size)
        staged.setdefault(places[fact.source], []).append(part)
    return tuple(
        KeptFile(file.path, file.length, tuple(staged.get(Place.of(file.path), ())))
        for file in files
    )


def publish_kept(store: Store, files: Iterable[KeptFile]) -> None:
    """Append the rows of a final batch. Trying again after a crash changes nothing."""
    for file in files:
        if file.parts and all(store.exists(part.staged) for part in file.parts):
            parts = (store.open(part.staged) for part in file.parts)
            place = Place.of(file.path)
            with _writing(place, None):
                append(place, file.before, file.length, parts)


def clean_kept(store: Store) -> None:
    """Remove what tasks staged: it has been appended, or belongs to no batch."""
    store.remove(store.names(_FOLDER))


def _check_use(source: Source, place: Place, every: Iterable[Source], sink: Sink) -> None:
    """Refuse a file that something else is written to or read from."""
    caret = source.places.get("malformed")
    if place == sink.path:
        raise SinkError(
            f"{place} is the sink, and no place for malformed rows",
            place=caret,
            hint="keep them in a file of their own",
        )
    for other in every:
        if other.path is not None and is_read(Place.of(other.path), place):
            raise SinkError(
                f"what {source.name} keeps in {place} would be read as input of {other.name}",
                place=caret,
                hint="keep it outside of its path, or under a name that begins with _",
            )


def _make_room(source: Source, place: Place, overwrite: bool) -> None:
    """Have a folder for a new file, and nothing in it that another run has kept."""
    caret = source.places.get("malformed")
    with _writing(place, caret):
        disk.make_folders(place.parent)
        if not make_way(place, overwrite):
            raise SinkError(
                f"{place} already holds malformed rows",
                place=caret,
                hint="keep them elsewhere, give the --checkpoint they came with, or --overwrite",
            )


def _found(source: Source, file: KeptFile, overwrite: bool) -> KeptFile:
    """A file as it is now: what was appended is up to its user."""
    place = Place.of(file.path)
    with _writing(place, source.places.get("malformed")):
        return KeptFile(file.path, cut_back(place, file.length, overwrite=overwrite))


@contextmanager
def _writing(place: Place, caret: errors.Caret | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SinkError(
            f"cannot keep malformed rows in {place}: {error.strerror or error}",
            place=caret,
            hint="nothing is lost: mend that, then run again on this checkpoint",
        ) from None
    except SinkError as error:
        raise SinkError(error.message, place=error.place or caret, hint=error.hint) from None
