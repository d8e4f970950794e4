"""Expiry: floors below which no tuple can be met alive, and the chunks that a batch leaves."""

from __future__ import annotations

from random import Random

import pytest

from penstock.engine.join.expiry import floors_of, modules_after
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.state.manifest import StreamState
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo
from penstock.engine.wire.facts import KeptChunk
from support.streams.two_streams import SECOND, query


@pytest.mark.parametrize(
    ("window", "extent", "slide"),
    [
        ("RANGE 10 SECONDS", 10, 0.000001),
        ("RANGE 10 SECONDS SLIDE 4 SECONDS", 10, 4),
        ("TUMBLE 7 SECONDS", 0, 7),
        ("NOW", 0, 0.000001),
    ],
)
@pytest.mark.parametrize("second", [0, 3, 28, 29.5])
def test_a_floor_is_the_oldest_that_the_next_of_the_others_meet(
    window: str, extent: float, slide: float, second: float
) -> None:
    asked = query(f"SELECT a.k FROM a [{window}], b [RANGE 1 SECOND] WHERE a.k = b.k")
    now, step = round(second * SECOND), round(slide * SECOND)
    streams = {"a": StreamState(highest=100 * SECOND), "b": StreamState(highest=now)}
    floors = floors_of(asked, (), streams)
    assert floors["a"] == now // step * step - extent * SECOND
    assert floors["b"] == 99 * SECOND


def test_nothing_is_dead_as_long_as_the_others_have_sent_nothing() -> None:
    asked = query("SELECT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k")
    floors = floors_of(asked, (), {"a": StreamState(highest=SECOND)})
    assert floors == {"a": -FOREVER, "b": SECOND}


def test_a_stream_that_nobody_meets_is_not_kept() -> None:
    asked = query("SELECT a.k FROM a [UNBOUNDED], t WHERE a.k = t.k")
    assert floors_of(asked, (), {})["a"] == FOREVER


@pytest.mark.parametrize("seed", range(20))
def test_chunks_are_added_replaced_and_expired(seed: int) -> None:
    rng = Random(seed)
    modules = [Module.kept("a", 0), Module.kept("b", 1), Module.pending("a"), Module.ring("b")]
    floors = {"a": 40, "b": 70}
    before: dict[Module, dict[int, tuple[ChunkInfo, ...]]] = {}
    wanted: dict[tuple[Module, int], list[ChunkInfo]] = {}
    names = (f"chunk {number}" for number in range(1000))
    for module in modules:
        for pid in range(2):
            chunks = tuple(chunk(next(names), rng) for _ in range(rng.randrange(4)))
            before.setdefault(module, {})[pid] = chunks
            wanted[module, pid] = list(chunks)
    facts = []
    for _ in range(rng.randrange(8)):
        module, pid = rng.choice(modules), rng.randrange(2)
        replaced = tuple(c.name for c in wanted[module, pid] if rng.random() < 0.4)
        new = chunk(next(names), rng) if rng.random() < 0.8 else None
        facts.append(KeptChunk(module, pid, new, replaced))
        kept = [c for c in wanted[module, pid] if c.name not in replaced]
        wanted[module, pid] = kept if new is None else [*kept, new]
    found = modules_after(before, facts, floors)
    for (module, pid), left in wanted.items():
        # Only what is kept in a space dies by time.
        floor = {"a@0": 40, "b@1": 70}.get(str(module), 0)
        assert list(found[module][pid]) == [c for c in left if c.last_ts >= floor]


def chunk(name: str, rng: Random) -> ChunkInfo:
    return ChunkInfo(name, 1, 1, 0, 0, rng.randrange(100))
