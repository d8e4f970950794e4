"""Manifests of a large state: each is written as what has changed, and read as it was."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from penstock.engine.places.place import Place
from penstock.engine.state.manifest import (
    Manifest,
    Part,
    before,
    latest,
    load,
    manifest_name,
    manifest_names,
    newest,
)
from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.store import ChunkInfo, Store
from penstock.engine.state.upkeep.going_back import go_back
from penstock.engine.state.upkeep.manifest_chain import ManifestChain
from penstock.errors import CheckpointError

PARTITIONS = 100


class Drawn:
    """States that follow each other, drawn by a seed."""

    def __init__(self, seed: int):
        self._random = Random(seed)
        self._count = 0

    def chunk(self) -> ChunkInfo:
        self._count += 1
        until = self._random.choice((None, self._count + 5))
        return ChunkInfo(f"state/A@0/0/{self._count:032x}.arrow", 3, 8, 1, 0, 9, 0, until)

    def first(self, modules: int) -> dict[Module, dict[int, tuple[ChunkInfo, ...]]]:
        names = [Module.kept(f"a{number}", 0) for number in range(modules)]
        return {
            name: {p: tuple(self.chunk() for _ in range(6)) for p in range(PARTITIONS)}
            for name in names
        }

    def after(self, state: Modules, share: float) -> Modules:
        """Some partitions with a chunk more, or fewer, or merged, or gone, or in another order;
        sometimes a module comes or goes."""
        made = {module: dict(partitions) for module, partitions in state.items()}
        for partitions in made.values():
            for pid in [p for p in partitions if self._random.random() < share]:
                partitions[pid] = self._changed(partitions[pid])
                if self._random.random() < 0.02:
                    del partitions[pid]
            if self._random.random() < 0.2:
                partitions[PARTITIONS + self._count] = (self.chunk(),)
        if self._random.random() < 0.1 and len(made) > 2:
            del made[self._random.choice(list(made))]
        if self._random.random() < 0.2:
            made[Module.kept(f"new{self._count}", 1)] = {3: (self.chunk(),), 4: ()}
        return made

    def _changed(self, chunks: tuple[ChunkInfo, ...]) -> tuple[ChunkInfo, ...]:
        match self._random.randrange(4):
            case 0:
                return (*chunks, self.chunk())
            case 1:
                return chunks[1:]
            case 2:
                return (*chunks[:1], *chunks[5:], self.chunk())
            case _:
                return chunks[::-1]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_read_back_is_what_was_committed(tmp_path: Path, seed: int) -> None:
    """Both the newest manifest and the one before it, at every batch, with runs that end."""
    drawn, random = Drawn(seed), Random(seed)
    store = Store(Place.of(str(tmp_path)))
    parts = (Part('/out/"a"/ä.parquet', "", 3, 8), Part("/out/b", "/out/part-0", 0, 9))
    made = Manifest(0, drawn.first(3), parts=parts, members={"q": Manifest(0, drawn.first(2))})
    manifests, old = ManifestChain(store), None
    for batch in range(90):
        manifests.commit(made)
        manifests.forget(before=batch - 1)
        assert latest(store) == made
        assert before(store, made) == old
        if random.random() < 0.05:
            manifests = ManifestChain(store)
        share = random.choice((0.0, 0.01, 0.1))
        members = {
            name: replace(each, batch=batch + 1, modules=drawn.after(each.modules, share))
            for name, each in made.members.items()
        }
        modules = drawn.after(made.modules, share)
        old, made = made, replace(made, batch=batch + 1, modules=modules, members=members)
    assert len(manifest_names(store)) <= 66


def test_a_batch_writes_what_it_has_changed(tmp_path: Path) -> None:
    store, drawn = Store(Place.of(str(tmp_path))), Drawn(1)
    state = drawn.first(40)
    manifests = ManifestChain(store)
    sizes = []
    for batch in range(70):
        manifests.commit(Manifest(batch, state))
        sizes.append(store.read(manifest_name(batch)).size)
        module = Module.kept("a0", 0)
        more = (*state[module][batch % PARTITIONS], drawn.chunk())
        state = {**state, module: {**state[module], batch % PARTITIONS: more}}
    assert max(sizes[1:]) < sizes[0] / 20
    assert latest(store) == Manifest(69, {**state, module: {**state[module], 69: more[:-1]}})


def test_a_small_state_is_in_one_file(tmp_path: Path) -> None:
    store, drawn = Store(Place.of(str(tmp_path))), Drawn(1)
    manifests = ManifestChain(store)
    state = drawn.first(1)
    for batch in range(3):
        manifests.commit(Manifest(batch, state))
        assert "chain" not in json.loads(bytes(store.read(manifest_name(batch))))["manifest"]


def test_a_manifest_of_another_chain_is_refused(tmp_path: Path) -> None:
    """As where somebody has put files of two copies together."""
    stores = [Store(Place.of(str(tmp_path / name))) for name in "ab"]
    for seed, store in enumerate(stores):
        drawn, manifests = Drawn(seed), ManifestChain(store)
        state: Modules = drawn.first(4)
        for batch in range(3):
            manifests.commit(Manifest(batch, state))
            state = drawn.after(state, 0.01)
    one, other = (Path(store.path(manifest_name(1))) for store in stores)
    one.write_bytes(other.read_bytes())
    with pytest.raises(CheckpointError, match="does not follow manifest 1"):
        load(stores[0], manifest_name(2))


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    store, drawn = Store(Place.of(str(tmp_path))), Drawn(3)
    manifests = ManifestChain(store)
    state: Modules = drawn.first(4)
    for batch in range(3):
        manifests.commit(Manifest(batch, state))
        state = drawn.after(state, 0.01)
    store.remove([manifest_name(0)])
    go_back(store)
    for read in (latest, partial(newest, count=1)):
        with pytest.raises(CheckpointError, match=r"000000000000\.json is missing"):
            read(store)


def test_a_run_goes_back_along_a_chain(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """From a manifest that is damaged, or that lists a chunk which is, to the one before it."""
    store = Store(Place.of(str(tmp_path)))

    def chunk(number: int) -> ChunkInfo:
        name, data = f"state/A@0/0/{number:032x}.arrow", b"rows %d" % number
        store.write(name, data)
        return ChunkInfo(name, 1, len(data), zlib.crc32(data), 0, 9)

    module, manifests = Module.kept("A", 0), ManifestChain(store)
    made = [Manifest(0, {module: {0: tuple(map(chunk, range(1100)))}})]
    for batch in range(1, 6):
        more = (*made[-1].modules[module][0], chunk(1100 + batch))
        made.append(Manifest(batch, {module: {0: more[1:] if batch == 3 else more}}))
    for each in made:
        manifests.commit(each)
    go_back(store)
    assert latest(store) == made[5]
    newest = Path(store.path(manifest_name(5)))
    newest.write_bytes(newest.read_bytes()[:-3])
    go_back(store)
    assert latest(store) == made[4]
    Path(store.path(made[4].modules[module][0][-1].name)).write_bytes(b"torn")
    go_back(store)
    assert latest(store) == made[3]
    assert caplog.text.count("is run again") == 2


def test_a_state_that_grows_and_shrinks_changes_its_form(tmp_path: Path) -> None:
    store, drawn = Store(Place.of(str(tmp_path))), Drawn(1)
    manifests, states = ManifestChain(store), [drawn.first(1), drawn.first(4), drawn.first(1)]
    for batch, state in enumerate([*states, *states]):
        made = Manifest(batch, state)
        manifests.commit(made)
        manifests.forget(before=batch - 1)
        assert latest(store) == made
