"""Queries of different joins that share what is kept leave a script and come back."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.engine.reports.report import Report

JOINS = {"q1": ("a", 60), "q2": ("a", 30), "q3": ("c", 60)}
"""The stream that each query joins with b, and its window in seconds."""
COSTLY = """
[costs]
insert = 1e-3
expire = 1e-3
probe = 1e-9
compare = 1e-9
"""
BATCHES, EACH = 5, 5


def declared(folder: Path, types: dict[str, str]) -> str:
    return "".join(
        f"CREATE STREAM {name} (ts BIGINT, k {type_}) WITH (format = 'csv', "
        f"path = '{folder / name}', timestamp = 'ts', unit = 's', rate = 9);\n"
        for name, type_ in types.items()
    )


def asked(
    folder: Path, names: Collection[str], types: dict[str, str], **more: Any
) -> ps.ContinuousScript:
    """Joins by a key that nobody selects, where keeping a tuple is most of the work."""
    (folder / "stats.toml").write_text(COSTLY)
    queries = (
        f"SELECT {s}.ts AS x, b.ts AS y INTO {name} "
        f"FROM {s} [RANGE {seconds} s], b [RANGE 60 s] WHERE {s}.k = b.k;\n"
        for name, (s, seconds) in JOINS.items()
        if name in names
    )
    text = declared(folder, types) + "".join(queries)
    return ps.script(text, stats=folder / "stats.toml", engine="local", **more)


def bring(folder: Path, batch: int) -> None:
    for name in "abc":
        (folder / name).mkdir(exist_ok=True)
        rows = "".join(f"{10 * batch + n},{n}\n" for n in range(EACH))
        (folder / name / f"{batch}.csv").write_text(f"ts,k\n{rows}")


def ran(script: ps.ContinuousScript, folder: Path) -> Report:
    """The report of the last batch of a run over what is there."""
    sinks = {m.name: f"jsonl:{folder / m.name}.jsonl" for m in script.script.shown}
    with script.local(sink=sinks, checkpoint=folder / "state", available_now=True) as run:
        run.await_termination()
        assert run.last_report is not None
        return run.last_report


def pairs(folder: Path, name: str) -> list[tuple[int, int]]:
    lines = (folder / f"{name}.jsonl").read_text().splitlines()
    return sorted((row["x"], row["y"]) for row in map(json.loads, lines))


@pytest.mark.parametrize("types", ["BIGINT BIGINT BIGINT", "INT INT BIGINT", "DOUBLE INT INT"])
def test_who_stays_goes_on_whoever_comes_and_goes(
    types: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The common type of all keys may be another than that of those who stay."""
    kinds = dict(zip("abc", types.split(), strict=True))
    (sharing,) = asked(tmp_path, JOINS, kinds).planned.sharing
    assert ("q3" in sharing.takers) == (len(set(kinds.values())) == 1)
    results = 0
    for batch, names in enumerate((JOINS, ["q1", "q2"], JOINS, ["q2", "q3"], JOINS)):
        bring(tmp_path, batch)
        last = ran(asked(tmp_path, names, kinds), tmp_path)
        results += last.results
        assert (last.read["a"], last.read["b"]) == (EACH, EACH)
        assert last.total_results == results
    assert not [each for each in caplog.records if "fault" in each.getMessage()]
    every = range(BATCHES)
    both = [(10 * i + n, 10 * j + n) for i in every for j in every for n in range(EACH)]
    assert pairs(tmp_path, "q2") == sorted((x, y) for x, y in both if y - x <= 30 and x - y <= 60)


def test_a_script_tells_what_its_queries_have_shed(tmp_path: Path) -> None:
    for batch in range(BATCHES):
        bring(tmp_path, batch)
    kinds = dict.fromkeys("abc", "INT")
    needed = asked(tmp_path, JOINS, kinds).planned.needed
    last = ran(asked(tmp_path, JOINS, kinds, shed=True, capacity=0.4 * needed), tmp_path)
    assert sum(last.total_shed.values()) > 0
    assert {name.rpartition(".")[0] for name in last.total_shed} == {"shared.1"}
