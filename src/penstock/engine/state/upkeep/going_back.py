"""Going back: where the newest batch is damaged, as by a power cut, the run goes on from the one
before it.

What manifest n − 1 lists stays until manifest n + 1 is final, and so does what batch n has read. So
batch n is run again, and gives the same results.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator

from pyarrow import fs

from penstock.engine.places import disk
from penstock.engine.places.flushing import flush_path
from penstock.engine.places.place import Place
from penstock.engine.state.manifest import (
    KeptFile,
    Manifest,
    before,
    load,
    manifest_names,
)
from penstock.engine.state.plan_log import forget_after
from penstock.engine.state.store import ChunkInfo, Store, member_store
from penstock.engine.state.upkeep.known_sinks import known_sinks
from penstock.errors import CheckpointError

_LOG = logging.getLogger(__name__)
_NOTE = "went-back"
"""The file with the number of the last batch that was gone back from."""


def go_back(store: Store) -> None:
    """Have the newest manifest be one whose files are whole, and tell if it was not.

    Where there is none to go back to, all stays: whoever reads what is damaged will name it.
    """
    names = manifest_names(store)
    if not names:
        return
    newest = _number(names[-1])
    old = before(store, Manifest(batch=newest))
    try:
        made: Manifest | None = load(store, names[-1])
        fault = _fault(store, made, old)
    except CheckpointError as error:
        made, fault = None, error.message
    if fault is None:
        return
    # Before the first batch there is nothing to be damaged.
    if newest > 0 and (old is None or _fault(store, old, old) is not None):
        return
    _LOG.warning("%s: batch %d is run again, over the state before it", fault, newest)
    _cut_lines(old, made)
    for each in (store, *(member_store(store, name) for name in (old.members if old else ()))):
        each.replace(_NOTE, str(newest).encode())
        forget_after(each, newest)
        _cut_begun(each, -1 if old is None else old.batch)
    store.remove([names[-1]])
    store.flush_folder("manifests")


def run_again(store: Store, standing: Manifest) -> int | None:
    """The batch after the newest manifest, if it was final once and was gone back from."""
    if not store.exists(_NOTE):
        return None
    text = bytes(store.read(_NOTE)).decode(errors="replace")
    batch = int(text) if text.isdecimal() else -1
    return batch if batch > standing.batch else None


def _number(name: str) -> int:
    return int(name.rpartition("/")[2].removesuffix(".json"))


def _fault(store: Store, made: Manifest | None, old: Manifest | None) -> str | None:
    """What is not as a manifest lists it; chunks that the one before lists too are not read."""
    assert made is not None, "it was read"
    known = set() if old is None else {chunk.name for chunk in old.chunks()}
    found = next(_chunk_faults(store, made.chunks(), known), None) or _part_fault(store, made)
    if found is not None:
        return found
    members = {} if old is None else old.members
    each = (
        _fault(member_store(store, name), member, members.get(name))
        for name, member in made.members.items()
    )
    return next(filter(None, each), None)


def _chunk_faults(store: Store, chunks: Iterable[ChunkInfo], known: set[str]) -> Iterator[str]:
    sizes = {
        f"state/{name}": info.size for name, info in (store.root / "state").files(recursive=True)
    }
    for chunk in chunks:
        where = store.path(chunk.name)
        if chunk.name not in sizes:
            yield f"state chunk is missing: {where}"
        elif sizes[chunk.name] != chunk.size:
            yield f"state chunk is damaged: {where} ({sizes[chunk.name]} bytes of {chunk.size})"
        elif chunk.name not in known and not chunk.is_of(store.read_chunk(chunk)):
            yield f"state chunk is damaged: {where} (wrong checksum)"


def _part_fault(store: Store, made: Manifest) -> str | None:
    """A file of results that is not as long as it was written; what is gone, somebody has taken."""
    kind, _, path = made.sink.partition(":")
    folder = Place.of(path) if kind in ("parquet", "jsonl") else store.root
    for part in made.parts:
        for info in _infos(folder, [place for place in (part.staged, part.final) if place]):
            if info.type == fs.FileType.File and info.size != part.size:
                return f"results are damaged: {info.path} ({info.size} bytes of {part.size})"
    lines = made.lines
    staged = _infos(folder, [part.staged for part in made.parts])
    if lines is None or any(info.type == fs.FileType.File for info in staged):
        return None
    length = _length(lines.path)
    if lines.before <= length < lines.length and length and _ends_line(lines.path, lines.before):
        return f"results are damaged: {lines.path} ({length} bytes of {lines.length})"
    return None


def _ends_line(file: str, length: int) -> bool:
    """Whether a line ends after so many bytes of a file; of one that was put there in the place of
    another it may not."""
    with open(Place.of(file).path, "rb") as opened:
        opened.seek(max(0, length - 1))
        return length == 0 or opened.read(1) == b"\n"


def _infos(folder: Place, paths: list[str]) -> list[fs.FileInfo]:
    """Files of results; none of a place that cannot be reached, as who publishes will say."""
    try:
        found: list[fs.FileInfo] = folder.filesystem.get_file_info(paths)
    except OSError:
        return []
    return found


def _length(file: str) -> int:
    path = Place.of(file).path
    return os.path.getsize(path) if os.path.exists(path) else 0


def _cut_lines(old: Manifest | None, made: Manifest | None) -> None:
    """Take the lines of the newest batch from the files that it may have appended to."""
    for file in _files(old):
        _cut(file.path, file.length)
    for file in _files(made):
        _cut(file.path, file.before)


def _cut_begun(store: Store, batch: int) -> None:
    """The same for a file that no manifest tells of: the newest batch was the first to go there."""
    for known in known_sinks(store):
        kind, _, path = known.sink.partition(":")
        if kind == "jsonl" and known.batch == batch:
            _cut(path, known.length)


def _files(manifest: Manifest | None) -> Iterator[KeptFile]:
    """The files of lines that a batch appends to."""
    if manifest is None:
        return
    yield from manifest.kept
    if manifest.lines is not None:
        yield manifest.lines
    for member in manifest.members.values():
        yield from _files(member)


def _cut(file: str, length: int) -> None:
    if _length(file) > length:
        path = Place.of(file).path
        disk.truncate(path, length)
        flush_path(path)
