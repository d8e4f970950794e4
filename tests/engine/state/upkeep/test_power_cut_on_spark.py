"""After a power cut a query on Spark goes back too, with the rows that come through Spark, and with
logs of Spark's that were cut off."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.api import sql
from penstock.engine.places.place import Place as Folder
from penstock.engine.sinks.sink import parquet
from penstock.engine.spark import runner, start
from penstock.engine.state import manifest as manifests
from penstock.engine.state.store import Store
from penstock.errors import SinkError
from support.engines.soak import expected, results, script, write_input

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def damage(checkpoint: Path) -> None:
    """Empty a chunk of the last batch, and the last entry of Spark's log of what is done."""
    store = Store(Folder.of(checkpoint))
    made = manifests.latest(store)
    assert made is not None
    old = manifests.before(store, made)
    known = set() if old is None else {chunk.name for chunk in old.chunks()}
    new = [chunk.name for chunk in made.chunks() if chunk.name not in known]
    os.truncate(store.path(new[0]), 0)
    commits = [path for path in (checkpoint / "spark" / "commits").iterdir() if path.name.isdigit()]
    os.truncate(max(commits, key=lambda path: int(path.name)), 0)


@pytest.mark.spark
@pytest.mark.parametrize("is_framed", [False, True])
def test_a_damaged_batch_is_run_again_on_spark(
    is_framed: bool, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tasks flush what they write themselves, as on a cluster."""
    monkeypatch.setattr(runner, "is_one_machine", lambda spark: False)
    write_input(tmp_path / "in", 3, Random(8))
    right = expected(script("common", tmp_path / "in"))
    hidden = [tmp_path / "in" / name / "0002.parquet" for name in "abc"]
    text = script("common", tmp_path / "in", is_framed=is_framed)
    sink, checkpoint = parquet(tmp_path / "out"), tmp_path / "checkpoint"
    for path in hidden:
        path.rename(path.with_name(f"_{path.name}"))
    options: dict[str, Any] = {"sink": sink, "checkpoint": str(checkpoint), "available_now": True}
    sql(text).start(spark, **options).await_termination()
    damage(checkpoint)
    for path in hidden:
        path.with_name(f"_{path.name}").rename(path)
    sql(text).start(spark, **options, drain=True).await_termination()
    assert results(sink) == right
    assert right.total() > 100


@pytest.mark.spark
def test_a_sink_that_executors_do_not_see_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path that means something else in every process."""
    monkeypatch.setattr(start, "is_one_machine", lambda spark: False)
    write_input(tmp_path / "in", 1, Random(8))
    (tmp_path / "out").mkdir()
    handle = os.open(tmp_path / "out", os.O_RDONLY)
    query = sql(script("common", tmp_path / "in"))
    try:
        for sink in (f"parquet:/proc/self/fd/{handle}/x", f"jsonl:/proc/self/fd/{handle}/x.jsonl"):
            with pytest.raises(SinkError, match="the executors cannot see the sink"):
                query.start(
                    spark, sink=sink, checkpoint=str(tmp_path / sink[:5]), available_now=True
                )
    finally:
        os.close(handle)
