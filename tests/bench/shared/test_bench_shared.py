"""`penstock bench shared`, on a few events."""

from __future__ import annotations

from pathlib import Path

from penstock.bench.nexmark.data import Events
from penstock.bench.shared.machine import Here
from penstock.bench.shared.queries import QUERIES
from penstock.bench.shared.run import Size, run_shared
from penstock.bench.shared.text import document, shared_text


def test_queries_give_the_same_together_and_one_by_one(tmp_path: Path) -> None:
    size = Size(Events(rate=4000, seconds=6, step=2), repeat=1)
    progress: list[str] = []
    made = document(run_shared(size, Here(), tmp_path, progress.append), "local")
    assert made["wrong"] == []
    assert set(made["apart"]) == set(made["results"]) == set(QUERIES)
    assert len(QUERIES) == 10
    assert min(made["results"].values()) > 0
    assert made["sharing"], "the planner lets queries share"
    assert made["apart_s"] > 0
    text = shared_text(made)
    assert all(name in text for name in QUERIES)
    assert f"{made['ratio']:.2f} times as much" in text
