"""The visits of a leg over the chunks of a partition, beside a join that is made by loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.join import legs
from penstock.engine.join.legs import Join, Partial
from penstock.engine.routes.multiway_routes import Visit
from penstock.engine.rows.columns import TS, UNTIL, hash_name
from penstock.engine.state.store import Chunk
from penstock.kernels.ranges import find_ranges

KEY = hash_name(0)
FEW, MANY = 40, 4_000


def chunk(name: str, hashes: np.ndarray, first: int) -> Chunk:
    """A chunk of tuples that are numbered from the first on."""
    values = {
        KEY: np.sort(hashes),
        TS: np.arange(len(hashes)),
        name: np.arange(first, first + len(hashes)),
    }
    return Chunk.of(pa.RecordBatch.from_pydict(values), 0)


def visit(target: str, keep: set[str], *, is_final: bool) -> Visit:
    return Visit(target, (None,), 0, (), (), frozenset(keep), True, is_final)


def pairs(chunks: Sequence[Chunk], name: str) -> list[tuple[int, int]]:
    return [
        (h, number)
        for each in chunks
        for h, number in zip(each.hashes.tolist(), each.rows.column(name).to_pylist(), strict=True)
    ]


@pytest.mark.parametrize("size", [FEW, MANY])
def test_combinations_look_into_many_more_rows_in_the_order_of_their_hashes(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    looked: dict[int, list[bool]] = {}

    def watched(hashes: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        looked.setdefault(len(others[2]), []).append(bool(np.all(hashes[1:] >= hashes[:-1])))
        return find_ranges(hashes, *others)

    monkeypatch.setattr(legs, "find_ranges", watched)
    keys = rng.integers(-(2**63), 2**63 - 1, 50)
    b = [chunk("b", rng.choice(keys, 30), 30 * number) for number in range(4)]
    c = [chunk("c", rng.choice(keys, size), 0)]
    state = {"b": b, "c": c}
    own = rng.choice(keys, 60)
    control = {KEY: own, TS: np.zeros(60, np.int64), UNTIL: np.full(60, 2**62)}
    started = Partial(60, control, pa.RecordBatch.from_pydict({"a": np.arange(60)}))
    visits = (
        visit("b", {KEY, "a", "b"}, is_final=False),
        visit("c", {"a", "b", "c"}, is_final=True),
    )
    found = [
        tuple(row.values())
        for piece in Join(visits, lambda each: state[each.target]).run(started)
        for row in piece.payload.select(["a", "b", "c"]).to_pylist()
    ]
    expected = [
        (a, nb, nc)
        for a, h in enumerate(own.tolist())
        for hb, nb in pairs(b, "b")
        if hb == h
        for hc, nc in pairs(c, "c")
        if hc == h
    ]
    assert sorted(found) == sorted(expected)
    assert looked[30] == [True] * 4
    assert looked[size] == [size == MANY]
