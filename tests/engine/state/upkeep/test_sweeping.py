"""Files that nobody needs: chunks that no manifest lists are deleted, also while a query runs, and
what a process has opened of them is let go of."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place as Folder
from penstock.engine.rows.columns import TS
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.engine.state.listing import filed_state
from penstock.engine.state.listing.filed_state import FiledState
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.store import ChunkInfo, Store
from penstock.engine.state.upkeep import chunk_cache, sweeping
from penstock.engine.state.upkeep.chunk_cache import ChunkCache
from penstock.engine.state.upkeep.litter import Litter
from penstock.plan.default_plan import default_plan

ROWS = 1000


def write(store: Store) -> ChunkInfo:
    return store.write_chunk(("a@0", "0"), pa.record_batch({TS: pa.array(range(ROWS))}))


def mapped(folder: Path) -> int:
    """The files of a folder that this process has mapped, also if they are deleted."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return len({line.split(None, 5)[5] for line in lines if str(folder) in line})


def test_chunks_that_are_deleted_are_let_go_of(tmp_path: Path) -> None:
    store, cache = Store(Folder.of(tmp_path)), ChunkCache(1 << 30)
    first = write(store)
    for _ in range(200):
        info = write(store)
        assert len(cache.chunk(store.root, info, None).rows) == ROWS
        assert cache.chunk(store.root, first, None) is cache.chunk(store.root, first, None)
        store.remove([info.name])
    assert len(cache) <= chunk_cache._LOOKS + 1
    assert mapped(tmp_path) <= chunk_cache._LOOKS + 1
    assert cache.bytes == len(cache) * first.size


def test_opened_chunks_are_bounded_by_bytes(tmp_path: Path) -> None:
    store = Store(Folder.of(tmp_path))
    infos = [write(store) for _ in range(50)]
    cache = ChunkCache(10 * infos[0].size)
    for _ in range(2):
        for info in infos:
            assert len(cache.chunk(store.root, info, None).rows) == ROWS
            assert cache.bytes <= 10 * info.size
    assert len(cache) == 10
    assert mapped(tmp_path) <= 10
    small = ChunkCache(1)
    assert [len(small.chunk(store.root, info, None).rows) for info in infos[:3]] == [ROWS] * 3
    assert len(small) == 1


def test_orphans_are_swept_while_a_query_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task attempt that lost has left a chunk and a packet, of which nobody was told."""
    monkeypatch.setattr(sweeping, "_ORPHANS", 4)
    (tmp_path / "in").mkdir()
    for number in range(10):
        (tmp_path / "in" / f"{number}.csv").write_text(f"t,k\n{number},1\n")
    query = parse(
        f"CREATE STREAM a (t BIGINT, k INT) WITH (format='csv', path='{tmp_path}/in', "
        "timestamp='t', unit='s', max_files=1); "
        "SELECT x.t AS t FROM a [RANGE 3 SECONDS] AS x, a [RANGE 3 SECONDS] AS y WHERE x.k = y.k"
    )
    store = Store(Folder.of(tmp_path / "checkpoint"))
    left: list[set[str]] = []
    orphans = {f"state/x@0/0/{unique_name('.arrow')}", f"transit/1/{unique_name()}"}
    foreign = "state/x@0/0/notes.txt"

    def look(report: object) -> None:
        if not left:
            for name in (*orphans, foreign):
                store.write(name, b"lost")
        left.append(orphans & {*store.names("state"), *store.names("transit")})

    options = RunOptions(sink=noop(), checkpoint=str(tmp_path / "checkpoint"), report=look)
    open_run(default_plan(query), options).available_now()
    assert left[:3] == [orphans] * 3
    assert left[3:] == [set()] * 7
    assert store.exists(foreign)


def test_a_large_state_is_looked_through_by_and_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some partitions in each batch; what is listed elsewhere, or a batch longer, stays."""
    monkeypatch.setattr(filed_state, "LARGE", 0)
    store, module = Store(Folder.of(tmp_path)), Module.kept("a", 0)
    rows = pa.record_batch({TS: pa.array(range(3))})

    def chunk(pid: int) -> ChunkInfo:
        return store.write_chunk(module.folders(pid), rows)

    state: dict[Module, dict[int, tuple[ChunkInfo, ...]]] = {
        module: {pid: (chunk(pid),) for pid in (0, 1, 70)}
    }
    # A chunk may be listed by another partition than that of its folder.
    state[module][1] = (*state[module][1], chunk(0))
    sweeper = sweeping.Sweeper(store)
    sweeper.begin(Manifest(0, state), None)
    lost = [chunk(pid).name for pid in (0, 1, 70)]
    listed = {each.name for chunks in state[module].values() for each in chunks}
    there = []
    for batch in range(1, 65):
        sweeper.sweep(Manifest(batch, state), (state,), ())
        there.append([store.exists(name) for name in lost].count(True))
    assert there == [2] * 5 + [1] * 58 + [0]
    assert set(store.names("state")) == listed


def test_tasks_delete_what_a_large_state_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each what is of its partitions; what none of them was given, the driver deletes."""
    monkeypatch.setattr(filed_state, "LARGE", 0)
    store, module, litter = Store(Folder.of(tmp_path)), Module.kept("a", 0), Litter()
    rows = pa.record_batch({TS: pa.array(range(3))})

    def state() -> dict[Module, dict[int, tuple[ChunkInfo, ...]]]:
        return {module: {pid: (store.write_chunk(module.folders(pid), rows),) for pid in range(4)}}

    def there(state: Modules) -> list[int]:
        infos = ((pid, chunk) for pid, chunks in state[module].items() for chunk in chunks)
        return [pid for pid, chunk in infos if store.exists(chunk.name)]

    states = [state()]
    sweeper = sweeping.Sweeper(store, litter)
    sweeper.begin(Manifest(0, states[0]), None)

    def run() -> None:
        states.append(state())
        sweeper.sweep(Manifest(len(states) - 1, states[-1]), (), ())

    run()
    run()
    assert there(states[0]) == [0, 1, 2, 3], "they are left to tasks"
    filed = FiledState.write(store.root, "transit/3", states[2], 2, litter.taken())
    filed.tidy(1)
    assert there(states[0]) == [0, 2]
    pickle.loads(pickle.dumps(filed)).tidy(2)
    assert there(states[0]) == []
    run()
    run()
    assert there(states[1]) == [], "no task has taken them"
    assert there(states[2]) == [0, 1, 2, 3]
    assert dict(filed[module]) == states[2][module]
    sweeper.sweep(Manifest(5, {}, is_closed=True), (), ())
    assert store.names("state") == []
