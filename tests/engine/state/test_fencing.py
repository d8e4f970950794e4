"""Two runs on one checkpoint on S3: the later one goes on, the earlier one stops harmlessly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.api import sql
from penstock.engine.places.fence import Fence
from penstock.engine.places.place import Place
from penstock.engine.sinks.sink import Sink, parquet
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError, FencedError
from support.engines.soak import expected, script, write_input
from support.stores.stored_runs import names_in, script_over, stored_input, stored_results


class Scene:
    """A query over input in a bucket, and any number of runs of it on one checkpoint."""

    def __init__(self, bucket: str, folder: Path):
        self.text = script_over("chain", stored_input(folder, bucket))
        self.sink: Sink = parquet(f"s3://{bucket}/out")
        self.checkpoint = f"s3://{bucket}/checkpoint"
        self.wanted = expected(script("chain", folder))

    def open(self, report: Callable[[Any], None] | None = None) -> Any:
        return sql(self.text).local(sink=self.sink, checkpoint=self.checkpoint, report=report)

    def assert_exact(self) -> None:
        assert stored_results(self.sink) == self.wanted


@pytest.fixture
def scene(bucket: str, tmp_path: Path) -> Scene:
    return Scene(bucket, tmp_path / "in")


@pytest.mark.parametrize("batch", [0, 2])
def test_a_later_run_fences_off_an_earlier_one(batch: int, scene: Scene) -> None:
    def overtake(report: Any) -> None:
        if report.batch == batch:
            scene.open().available_now(drain=True)

    with pytest.raises(FencedError, match="was taken over by another run: process") as caught:
        scene.open(overtake).available_now(drain=True)
    assert caught.value.hint is not None
    assert "nothing is lost" in caught.value.hint
    scene.assert_exact()


@pytest.mark.parametrize("moment", ["manifests/", "feed/"])
def test_whoever_is_about_to_write_changes_nothing(
    moment: str, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The later run does all there is while the earlier one has checked, and not yet written."""
    publish, is_armed = Store.publish, [True]

    def overtaken(self: Store, name: str, data: bytes) -> None:
        if name.startswith(f"{moment}000000000001") and is_armed:
            is_armed.clear()
            scene.open().available_now(drain=True)
        publish(self, name, data)

    monkeypatch.setattr(Store, "publish", overtaken)
    with pytest.raises(FencedError):
        scene.open().available_now(drain=True)
    scene.assert_exact()


def test_what_slips_through_is_not_lost(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The later run has read the newest manifest, and then the earlier one writes another."""
    publish, later = Store.publish, list[Any]()

    def slipping(self: Store, name: str, data: bytes) -> None:
        if name.startswith("manifests/000000000001") and not later:
            later.append(scene.open())
        publish(self, name, data)

    monkeypatch.setattr(Store, "publish", slipping)
    with pytest.raises(FencedError):
        scene.open().available_now(drain=True)
    with pytest.raises(
        CheckpointError, match=r"batch 1 of .* was committed by another run"
    ) as told:
        later[0].available_now(drain=True)
    assert told.value.hint == "the run before ended with it just now: nothing is lost, so run again"
    scene.open().available_now(drain=True)
    scene.assert_exact()


def test_another_query_fences_nobody_off(scene: Scene, bucket: str) -> None:
    other = scene.text.replace("c [RANGE 5 SECONDS]", "c [RANGE 6 SECONDS]")
    assert other != scene.text

    def ask_otherwise(report: Any) -> None:
        with pytest.raises(CheckpointError, match="belongs to another query"):
            sql(other).local(sink=scene.sink, checkpoint=scene.checkpoint)

    scene.open(ask_otherwise).available_now(drain=True)
    scene.assert_exact()
    assert [name for name in names_in(bucket) if "/epochs/" in name] == [
        "checkpoint/epochs/000000000001.json"
    ]


def test_runs_that_begin_at_once_have_one_checkpoint(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run is faster while the first has seen that there is no checkpoint yet."""
    publish, later = Store.publish, list[Any]()

    def slower(self: Store, name: str, data: bytes) -> None:
        if name == "query.json" and not later:
            later.append(name)
            scene.open().available_now()
        publish(self, name, data)

    monkeypatch.setattr(Store, "publish", slower)
    scene.open().available_now(drain=True)
    scene.assert_exact()


def test_epochs_are_raised_by_one_run_each(bucket: str) -> None:
    root = Place.of(f"s3://{bucket}/checkpoint")
    first, second = Fence.raised(root), Fence.raised(root)
    assert (first.epoch, second.epoch) == (1, 2)
    second.check()
    with pytest.raises(FencedError):
        first.check()
    with pytest.raises(FencedError):
        Store(root, first).remove(["feed/000000000001.json"])
    Store(root, second).remove(["feed/000000000001.json"])


def test_local_disks_keep_their_lock(tmp_path: Path) -> None:
    write_input(tmp_path / "in", 2, Random(5))
    text, kept = script("chain", tmp_path / "in"), str(tmp_path / "checkpoint")
    run = sql(text).local(sink=parquet(tmp_path / "out"), checkpoint=kept)
    with pytest.raises(CheckpointError, match="is in use by another run"):
        sql(text).local(sink=parquet(tmp_path / "out"), checkpoint=kept)
    run.available_now(drain=True)
    assert not (tmp_path / "checkpoint" / "epochs").exists()
