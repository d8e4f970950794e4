"""Damaged files are read as what they say, or refused with a clear error; results are never made up
from a damaged checkpoint."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.errors import PenstockError
from support.fuzz.damage import damaged

INPUTS = int(os.environ.get("PENSTOCK_FUZZ", "10000")) // 10
PARTS = 5
ROWS = [
    {"ts": 1_000_000 * number, "k": number % 5, "x": number / 3, "s": f"text {number}, é"}
    for number in range(40)
]
COLUMNS = "ts BIGINT, k BIGINT, x DOUBLE, s STRING"
STATS = """
[streams.a]
rate = {value = 4994.34, origin = "sampled", error = 13.0}
distinct.k = {value = 5000.0, origin = "sampled", error = 0.0}
[streams.b]
rate = 500.5
[joins]
"a.k = b.k" = {selectivity = {value = 0.0002, origin = "sampled"}, cost = {value = 3.7e-09}}
"""


def stream(name: str, form: str, path: Path, malformed: str = "fail") -> str:
    options = f"format = '{form}', path = '{path}', timestamp = 'ts', unit = 'us'"
    return f"CREATE STREAM {name} ({COLUMNS}) WITH ({options}, malformed = '{malformed}');\n"


def as_bytes(form: str, rows: list[dict[str, object]]) -> bytes:
    match form:
        case "csv":
            lines = [",".join(rows[0]), *(_line(row) for row in rows)]
            return "\n".join([*lines, ""]).encode()
        case "json":
            return "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    made = BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), made)
    return made.getvalue()


def _line(row: dict[str, object]) -> str:
    return ",".join(
        f'"{value}"' if isinstance(value, str) else str(value) for value in row.values()
    )


def is_refused(work: Callable[[], None], seed: str) -> bool:
    """Whether something ends with a clear error; anything else that it ends with is a fault."""
    try:
        work()
    except PenstockError as error:
        return bool(error.message)
    except Exception as error:
        raise AssertionError(seed) from error
    return False


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_inputs_are_read_or_refused(form: str, part: int, tmp_path: Path) -> None:
    whole = as_bytes(form, ROWS)
    for number in range(INPUTS // PARTS // 4):
        seed = f"{form} {part}/{number}"
        rng = Random(seed)
        path, checkpoint = tmp_path / f"a.{form}", tmp_path / f"checkpoint {number}"
        path.write_bytes(damaged(rng, whole))
        text = stream("a", form, path, rng.choice(("fail", "drop")))
        is_refused(partial(read, text, checkpoint), seed)
        shutil.rmtree(checkpoint, ignore_errors=True)


def read(text: str, checkpoint: Path) -> None:
    asked = ps.sql(f"{text} SELECT a.* FROM a [RANGE 10 SECONDS];", engine="local")
    with asked.local(sink=ps.noop(), checkpoint=checkpoint, available_now=True) as running:
        running.await_termination()


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_stats_are_known_or_refused(part: int, tmp_path: Path) -> None:
    text = stream("a", "csv", tmp_path / "a.csv") + stream("b", "csv", tmp_path / "b.csv")
    asked = f"{text} SELECT a.k FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k;"
    path = tmp_path / "stats.toml"
    for number in range(INPUTS // PARTS // 4):
        seed = f"stats {part}/{number}"
        path.write_bytes(damaged(Random(seed), STATS.encode()))
        is_refused(lambda: print(ps.sql(asked, stats=path).explain()), seed)


def ask(folder: Path) -> str:
    joined = "SELECT a.k, a.x, b.s FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k;"
    return stream("a", "csv", folder / "a") + stream("b", "csv", folder / "b") + joined


def bring(folder: Path, number: int) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir(exist_ok=True, parents=True)
        (folder / name / f"{number}.csv").write_bytes(as_bytes("csv", ROWS[number::3]))


def run(folder: Path) -> None:
    asked = ps.sql(ask(folder), engine="local")
    sink = ps.jsonl(folder / "results.jsonl")
    with asked.local(sink=sink, checkpoint=folder / "checkpoint", available_now=True) as running:
        running.await_termination()


def results(folder: Path) -> list[str]:
    return sorted((folder / "results.jsonl").read_text().splitlines())


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A run that has read two files a stream, and stopped."""
    folder = tmp_path / "run"
    for number in range(2):
        bring(folder, number)
        run(folder)
    return folder


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_checkpoint_goes_on_exactly_or_not_at_all(part: int, stopped: Path) -> None:
    """It is run where it was: its paths are a part of it."""
    kept = stopped.parent / "kept"
    shutil.copytree(stopped, kept)
    bring(stopped, 2)
    run(stopped)
    expected = results(stopped)
    went_on = 0
    for number in range(INPUTS // PARTS // 4):
        seed = f"checkpoint {part}/{number}"
        rng = Random(seed)
        shutil.rmtree(stopped)
        shutil.copytree(kept, stopped)
        bring(stopped, 2)
        files = sorted(f for f in (stopped / "checkpoint").rglob("*") if f.is_file())
        hit = rng.choice(files)
        hit.write_bytes(damaged(rng, hit.read_bytes()))
        if not is_refused(partial(run, stopped), f"{seed}: {hit}"):
            went_on += 1
            assert results(stopped) == expected, f"{seed}: {hit}"
    assert went_on < INPUTS // PARTS // 4, "some of it is needed"
