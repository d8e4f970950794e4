"""Small runs in this process whose logs are looked at, the same every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import penstock as ps
from penstock.adapt.replanner import Mode
from support.engines.supervised import follow
from support.streams.drifting import Drifting, steady, step

_KEYS = {"a": 30, "b": 30, "c": 30}


def chained(batches: int = 16) -> Drifting:
    """A chain of three streams, of which another brings the most from the middle on."""
    early, late = {"a": 2000, "b": 20, "c": 10}, {"a": 10, "b": 20, "c": 6000}
    return Drifting("abc", step(batches // 2, early, late), steady(_KEYS), batches, is_chain=True)


def run_of(streams: Drifting, folder: Path, **options: Any) -> Path:
    """The checkpoint of a run over all there is; its results are in the folder `out`."""
    streams.write(folder)
    query = ps.sql(streams.script(folder), engine="local", **options)
    # A plan that is forced stays.
    mode: Mode = "off" if "plan" in options else "on"
    follow(query, folder, mode, available_now=True)
    return folder / "checkpoint"
