"""Small runs in this process whose logs are looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import penstock as ps
from support.streams.drifting import Drifting, steady, step

_KEYS = {"a": 30, "b": 30, "c": 30}


def chained(batches: int = 16) -> Drifting:
    """A chain of three streams, of which another brings the most from the middle on."""
    early, late = {"a": 200, "b": 20, "c": 10}, {"a": 10, "b": 20, "c": 600}
    return Drifting("abc", step(batches // 2, early, late), steady(_KEYS), batches, is_chain=True)


def run_of(streams: Drifting, folder: Path, sink: str = "noop", **options: Any) -> Path:
    """The checkpoint of a run over all there is."""
    streams.write(folder)
    query = ps.sql(streams.script(folder), engine="local", **options)
    checkpoint = folder / "checkpoint"
    with query.local(sink=sink, checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    return checkpoint
