"""Views that were killed, and views of 0.1, go on."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from support.engines.crashes import Crash, Run, exit_code
from support.engines.long_views import CHAIN, ROWS, SLIDING, long_case
from support.engines.runs import (
    Place,
    first_files_only,
    planned,
    run_local,
)
from support.streams.views import expected, told

CRASHES = [
    Crash("in a chunk", 3),
    Crash("after a rebuild", 4),
    Crash("after the results are staged", 2),
    Crash("before the commit", 5),
    Crash("after the commit", 4),
    Crash("in publishing files", 1),
    Crash("after a chunk", 0, in_drain=True),
    Crash("after the commit", 0, in_drain=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: f"{crash.point} {crash.call}")
def test_a_killed_view_goes_on_exactly(crash: Crash, tmp_path: Path) -> None:
    windows = ROWS if crash.call % 2 else SLIDING
    case = long_case(tmp_path / "in", windows, CHAIN, batches=10)
    place = Place(tmp_path)
    shapes = (None, (("a", "b"), "c"), ("a", ("b", "c")))
    recompute = "b" if windows is SLIDING else None
    text, checkpoint, sink = case.query.text, str(place.checkpoint), place.sink.name
    run = Run(text, checkpoint, sink, crash, shapes, early=("a", "c"), recompute=recompute)
    assert exit_code(run) == -9
    assert exit_code(replace(run, crash=None)) == 0
    assert told(place, case.query) == expected(case, case.query)


def as_of_0_1(checkpoint: Path) -> int:
    """Give manifests the spelling of 0.1, and say how many were of a recomputed view."""
    found = 0
    for path in sorted(checkpoint.glob("manifests/*.json")):
        facts = json.loads(path.read_text())["manifest"]
        facts = {name.replace("is_recomputed", "is_anew"): fact for name, fact in facts.items()}
        body = json.dumps(facts)
        checksum = zlib.crc32(body.encode())
        path.write_text(f'{{"checksum": {checksum}, "manifest": {body}}}')
        found += facts["is_anew"]
    return found


@pytest.mark.parametrize("recompute", [None, "c"], ids=["kept", "recompute"])
def test_a_checkpoint_of_0_1_goes_on(recompute: str | None, tmp_path: Path) -> None:
    case = long_case(tmp_path / "in", SLIDING, CHAIN, batches=6)
    query, place = case.query, Place(tmp_path)
    late = planned(query)
    first = replace(late, early=("a", "b", "c"), recompute="b")
    with first_files_only(query, 3):
        run_local(query, place, plan=first, drain=False)
    assert as_of_0_1(place.checkpoint)
    run_local(query, place, plan=replace(late, early=("c",), recompute=recompute))
    assert told(place, query) == expected(case, query)
