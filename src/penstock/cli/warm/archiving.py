"""Spark's classes archived: a small query is run, and the JVM writes down what it has used."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from penstock.api import sql
from penstock.cli.warm.small_queries import QUERIES, write_rows
from penstock.engine.spark.java import ensure_java
from penstock.engine.spark.session import JAVA_OPTIONS, own_session, quick_java
from penstock.engine.spark.starting.class_archive import (
    archive_path,
    end_calmly,
    forget_others,
    writing_options,
)
from penstock.errors import SetupError

_JOIN, _VIEW = "join", "view"
_READABLE = 0o600


def archive_classes() -> Path:
    """The archive for the Spark and Java that are here, made if it is not there yet."""
    ensure_java()
    archive = archive_path()
    if archive.exists():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_suffix(f".{os.getpid()}")
    try:
        _run_on_spark(draft)
        end_calmly()
        if not draft.exists():
            raise SetupError("Java has written none", hint="its log is in the temporary folder")
        draft.chmod(_READABLE)
        draft.replace(archive)
        forget_others(archive)
    finally:
        draft.unlink(missing_ok=True)
    return archive


def _run_on_spark(draft: Path) -> None:
    """Run a join and a view, whose classes other queries use too."""
    options = {JAVA_OPTIONS: quick_java(writing_options(draft))}
    with (
        tempfile.TemporaryDirectory(prefix="penstock-warm-") as made,
        own_session("local[*]", options) as spark,
    ):
        folder = Path(made)
        write_rows(folder)
        for small in (each for each in QUERIES if each.name in (_JOIN, _VIEW)):
            place = folder / f"run-{small.name}"
            query = sql(small.text(folder))
            with query.start(
                spark, sink=f"jsonl:{place}.jsonl", checkpoint=f"{place}-ckpt", available_now=True
            ) as run:
                run.await_termination()
