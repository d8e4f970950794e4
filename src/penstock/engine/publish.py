"""Publish: make a batch's staged results visible, once, however often it is tried."""

from __future__ import annotations

import os
import shutil
import sys

from pyarrow import fs

from penstock.engine.manifest import Manifest, Part
from penstock.engine.sinks import Sink, StagedPart, Staging
from penstock.engine.store import Store, open_filesystem
from penstock.errors import SinkError


def staging_of(sink: Sink, store: Store) -> Staging:
    """Where tasks write results for a sink."""
    match sink.kind:
        case "parquet":
            return Staging("parquet", f"{sink.path}/_staging")
        case "jsonl":
            folder, name = os.path.split(os.path.abspath(sink.path))
            return Staging("jsonl", f"{folder}/.{name}.staging")
        case "console":
            return Staging("jsonl", f"{store.root}/staging")
        case "foreach_batch":
            return Staging("parquet", f"{store.root}/staging")
        case "noop":
            return Staging(None, "")


def prepare(sink: Sink, *, is_new: bool, overwrite: bool) -> None:
    """Check a sink before the first batch; a new run must not mix its results with others."""
    if sink.kind == "jsonl" and "://" in sink.path:
        raise SinkError(
            f"a jsonl sink must be a local file, not {sink.path}", hint="use a parquet sink there"
        )
    if not is_new or not sink.is_exact:
        return
    found = _content(sink)
    if found and not overwrite:
        raise SinkError(
            f"{sink.path} already holds results",
            hint="choose another place, give the --checkpoint they came with, or --overwrite",
        )
    filesystem, _ = open_filesystem(sink.path)
    for path in found:
        filesystem.delete_file(path)


def as_parts(sink: Sink, batch: int, staged: list[StagedPart]) -> tuple[Part, ...]:
    """Staged files with the names that they will be published under."""
    if sink.kind != "parquet":
        return tuple(Part(s.staged, "", s.rows, s.size) for s in staged)
    _, folder = open_filesystem(sink.path)
    return tuple(
        Part(s.staged, f"{folder}/part-{batch:08d}-{n:04d}.parquet", s.rows, s.size)
        for n, s in enumerate(staged)
    )


def publish(sink: Sink, manifest: Manifest) -> None:
    """Show the results of a final batch. Trying again after a crash changes nothing."""
    try:
        match sink.kind:
            case "parquet":
                _publish_files(sink, manifest)
            case "jsonl":
                _append(sink, manifest)
    except OSError as error:
        raise SinkError(
            f"cannot publish results to {sink.path}: {error.strerror or error}",
            hint="nothing is lost: mend the sink, then run again on this checkpoint",
        ) from None


def is_unpublished(sink: Sink, manifest: Manifest) -> bool:
    """Whether staged results of a final batch are still there, as after a crash."""
    filesystem, _ = open_filesystem(sink.path)
    infos = filesystem.get_file_info([part.staged for part in manifest.parts])
    return any(info.type == fs.FileType.File for info in infos)


def length_of(sink: Sink) -> int:
    """The length of a jsonl file, 0 if there is none."""
    if sink.kind != "jsonl" or not os.path.exists(sink.path):
        return 0
    return os.path.getsize(sink.path)


def print_results(staging: Staging, parts: tuple[Part, ...]) -> None:
    """Copy staged JSON lines to standard output."""
    filesystem, _ = open_filesystem(staging.folder)
    sys.stdout.flush()
    for part in parts:
        with filesystem.open_input_stream(part.staged) as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def clean(staging: Staging) -> None:
    """Remove what tasks staged and nobody published."""
    if staging.format is not None:
        filesystem, path = open_filesystem(staging.folder)
        if filesystem.get_file_info(path).type == fs.FileType.Directory:
            filesystem.delete_dir(path)


def _publish_files(sink: Sink, manifest: Manifest) -> None:
    filesystem, _ = open_filesystem(sink.path)
    for part in manifest.parts:
        if filesystem.get_file_info(part.staged).type == fs.FileType.File:
            filesystem.move(part.staged, part.final)
        elif filesystem.get_file_info(part.final).type != fs.FileType.File:
            raise SinkError(
                f"results of batch {manifest.batch} are missing: {part.final}",
                hint="they were written before and have been removed by somebody",
            )


def _append(sink: Sink, manifest: Manifest) -> None:
    length = length_of(sink)
    total = manifest.sink_length + sum(part.size for part in manifest.parts)
    if length == total and os.path.exists(sink.path):
        return
    # Only what was cut off in the middle may be cut off the file and put there again.
    if length < manifest.sink_length or (length != total and not is_unpublished(sink, manifest)):
        raise SinkError(
            f"{sink.path} is not as the last batch left it: {length:,} bytes, not {total:,}",
            hint="somebody has changed it; restore it, or start anew with another --checkpoint",
        )
    os.makedirs(os.path.dirname(sink.path), exist_ok=True)
    with open(sink.path, "r+b" if os.path.exists(sink.path) else "w+b") as file:
        file.truncate(manifest.sink_length)
        file.seek(manifest.sink_length)
        for part in manifest.parts:
            with open(part.staged, "rb") as staged:
                shutil.copyfileobj(staged, file)
        file.flush()
        os.fsync(file.fileno())


def _content(sink: Sink) -> list[str]:
    filesystem, path = open_filesystem(sink.path)
    if sink.kind == "jsonl":
        info = filesystem.get_file_info(path)
        return [path] if info.type == fs.FileType.File and info.size else []
    selector = fs.FileSelector(path, allow_not_found=True)
    return [i.path for i in filesystem.get_file_info(selector) if i.base_name.endswith(".parquet")]
