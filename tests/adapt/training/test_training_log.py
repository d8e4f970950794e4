"""Training in the checkpoint: the last one is read again, and nothing else matters."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from penstock.adapt.training.training_keeper import TrainingKeeper
from penstock.adapt.training.training_log import load_training, save_training
from penstock.engine.places.place import Place
from penstock.engine.state.store import Store
from penstock.stats.training import Training, operators_of
from support.adapt.sectors import sector_query
from support.waiting import PATIENCE


def training(weight: float = 1.0, *operators: str) -> Training:
    names = operators or operators_of(sector_query(), "S")
    values = ((1.0, "a"), (None, None))
    return Training("S", ("size", "name"), values, (weight, 1 - weight), names, ((0.5,) * 3,) * 2)


def test_the_last_training_is_read_again(tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path))
    assert load_training(store, sector_query()) == {}
    save_training(store, {"S": training(0.25)})
    save_training(store, {"S": training(0.5)})
    assert load_training(store, sector_query()) == {"S": training(0.5)}
    assert store.names("training") == ["training/000000000001.json"]


def test_what_cannot_be_read_is_no_training(tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path))
    save_training(store, {"S": training()})
    for text in ("", "{", "[]", '{"training": {"S": {"driver": "S"}}}'):
        (tmp_path / "training" / "000000000000.json").write_text(text)
        assert load_training(store, sector_query()) == {}


def test_training_of_another_query_is_left_out(tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path))
    save_training(store, {"S": training(1.0, "one", "two", "three")})
    assert load_training(store, sector_query()) == {}


class Slow(Store):
    """Files of a store whose first write takes until it is told to go on."""

    begun, go_on = Event(), Event()

    def publish(self, name: str, data: bytes) -> None:
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        super().publish(name, data)


def test_no_batch_waits_for_training_to_be_written(tmp_path: Path) -> None:
    keeper = TrainingKeeper(Slow(Place.of(tmp_path)))
    for weight in (0.1, 0.2, 0.3):
        keeper.keep({"S": training(weight)})
        assert Slow.begun.wait(PATIENCE)
    assert load_training(Store(Place.of(tmp_path)), sector_query()) == {}
    Slow.go_on.set()
    keeper.close()
    store = Store(Place.of(tmp_path))
    assert load_training(store, sector_query()) == {"S": training(0.3)}
    # Of what came while it wrote the first, only the last was written.
    assert store.names("training") == ["training/000000000001.json"]


def test_training_that_cannot_be_written_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "training").write_text("a file where a folder should be")
    keeper = TrainingKeeper(Store(Place.of(tmp_path)))
    for weight in (0.1, 0.2):
        keeper.keep({"S": training(weight)})
        keeper.close()
    assert len(caplog.records) == 1
    assert "cannot write training" in caplog.text


def test_a_half_written_file_is_not_read(tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path))
    save_training(store, {"S": training()})
    (tmp_path / "training" / f".000000000001.json.{'0' * 32}").write_text("{")
    assert load_training(store, sector_query()) == {"S": training()}
    save_training(store, {"S": training(0.5)})
    assert load_training(store, sector_query()) == {"S": training(0.5)}
