"""`penstock bundle`: what a bug report needs, and nothing of the data."""

from __future__ import annotations

import json
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.bundle.contents import COUNTED, DROPPED, MASKED, TIMES
from penstock.cli.main import app
from penstock.engine.places.place import Place
from penstock.engine.reports.entries import Answer, Ended
from penstock.engine.reports.parts import Change, FigureReport
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead
from penstock.engine.reports.writer import Bounds, LogWriter
from penstock.engine.state.no_results import Waiting
from penstock.engine.state.store import Store
from support.engines.reported import made

# Values of every column, a password, and words that only comments and paths have.
VALUES = (
    "1767225677",
    "zanzibar",
    "quokka",
    "8675309",
    "3.14159",
    "hunter2",
    "moonbase",
    "8675310",
)
QUERY = """
-- of moonbase
CREATE STREAM a (ts BIGINT, name STRING, k BIGINT, x DOUBLE)
  WITH (format='csv', path='{folder}/moonbase', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, name STRING, k BIGINT, x DOUBLE)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
SELECT a.name, b.x FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
WHERE a.name = b.name AND a.k <> 8675310 AND b.name <> 'quokka' AND b.x + 3.14159 > 0
"""


def penstock(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """That of a query that ran over a few files, and of orders and an end by an error."""
    for name in ("moonbase", "b"):
        (tmp_path / name).mkdir()
        for number in range(3):
            row = f"{1767225677 + number},zanzibar,8675309,3.14159"
            (tmp_path / name / f"{number}.csv").write_text(f"ts,name,k,x\n{row}\n")
    place = tmp_path / "checkpoint"
    query = ps.sql(QUERY.format(folder=tmp_path), engine="local")
    with query.local(sink=f"jsonl:{tmp_path}/hunter2", checkpoint=place, available_now=True) as run:
        run.await_termination()
    LogWriter(Store(Place.of(place)), Bounds()).write(
        [
            Answer(1.0, "1", Change("order", "pin zanzibar: no input is called zanzibar")),
            Ended(2.0, "KeyError: zanzibar"),
        ]
    )
    return place


def texts(bundle: Path) -> dict[str, str]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_no_value_of_the_data_and_no_password_is_in_it(checkpoint: Path, tmp_path: Path) -> None:
    done = penstock("bundle", checkpoint, "--output", tmp_path / "bug.zip")
    assert done.exit_code == 0
    found = texts(tmp_path / "bug.zip")
    written = (checkpoint / "reports" / "run.json").read_text() + "".join(
        each.read_text() for each in (checkpoint / "reports").glob("*.jsonl")
    )
    # They are where the bundle is made from, else the test says nothing.
    assert {"zanzibar", "quokka", "hunter2", "moonbase", "8675310"} <= {
        value for value in VALUES if value in written
    }
    for name, text in found.items():
        assert [value for value in (*VALUES, str(tmp_path)) if value in text] == [], name
    raw = (tmp_path / "bug.zip").read_bytes()
    assert [value for value in VALUES if value.encode() in raw] == []


def test_it_says_what_is_in_it(checkpoint: Path, tmp_path: Path) -> None:
    done = penstock("bundle", checkpoint, "--output", tmp_path / "bug.zip")
    found = texts(tmp_path / "bug.zip")
    for name in found:
        assert f"  {name} " in done.stdout
        assert name == "README.txt" or f"\n{name} " in found["README.txt"]
    assert "FROM a [RANGE 10 SECONDS]" in found["query.cql"]
    assert found["plan.txt"] == "a: b; b: a\n"
    lines = [json.loads(line) for line in found["reports.jsonl"].splitlines()]
    kinds = [each["kind"] for each in lines]
    assert kinds == ["run", "batch", "batch", "batch", "end", "answer", "end"]
    batches = [each for each in lines if each["kind"] == "batch"]
    assert sum(each["results"] for each in batches) == 9
    assert [each["newest"] for each in batches] == [{"a": 0, "b": 0}] * 3
    assert [each["span"] for each in batches] == [None, 1.0, 1.0]
    state = json.loads(found["state.json"])
    assert state["streams"]["a"]["rows"] == 3
    parts = [part for module in state["modules"].values() for part in module.values()]
    assert sum(part["rows"] for part in parts) == batches[-1]["state_tuples"] > 0
    assert json.loads(found["versions.json"])["penstock"]
    run = json.loads(found["run.json"])
    assert (run["engine"], run["sinks"], run["error"]) == ("local", ["jsonl"], None)


def test_nothing_is_written_over_and_what_is_no_checkpoint_is_refused(
    checkpoint: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.zip").write_text("mine")
    done = penstock("bundle", checkpoint, "--output", tmp_path / "mine.zip")
    assert "is there already\nhint: " in str(done.exception)
    assert (tmp_path / "mine.zip").read_text() == "mine"
    done = penstock("bundle", tmp_path, "--output", tmp_path / "none.zip")
    assert "is not a checkpoint" in str(done.exception)
    assert not (tmp_path / "none.zip").exists()


def test_every_field_of_a_report_was_decided_on() -> None:
    """A new one is left out until somebody says what it may tell."""
    groups = (COUNTED, TIMES, MASKED, DROPPED)
    assert frozenset().union(*groups) == {field.name for field in fields(Report)}
    assert sum(map(len, groups)) == len(fields(Report))


def test_sentences_in_a_log_lose_values_too(tmp_path: Path) -> None:
    """Of figures, operators, decisions, what waits, members, and a run that failed."""
    report = made(
        0,
        newest={"a": 1_767_225_677_000_000},
        frontier=None,
        figures=(FigureReport("a.k <> 8675309", 0.5, None, "passes"),),
        changes=(
            Change("drift", "a.k <> 8675309: 0.5 passes since batch 0"),
            Change("query", "the filter a.name = zanzibar is new"),
            Change("switch", "less work", "mesh a: b 60 % by if x <= 3.14159 then 1 else 2"),
        ),
        waiting=Waiting("waits for quokka"),
        stats={"hot": {"zanzibar": 1}},
    )
    store = Store(Place.of(tmp_path / "checkpoint"))
    writer = LogWriter(store, Bounds())
    writer.head(
        RunHead("SELECT 'zanzibar'", "spark", "kafka:moonbase/t", error="ValueError: quokka")
    )
    writer.write([made(0, members={"q": report}), report])
    assert penstock("bundle", store.root, "--output", tmp_path / "bug.zip").exit_code == 0
    found = texts(tmp_path / "bug.zip")
    assert [v for v in VALUES for text in found.values() if v in text] == []
    line = json.loads(found["reports.jsonl"].splitlines()[1])
    assert line["figures"][0]["what"] == "a.k <> 0"
    assert line["changes"][0]["reason"] == "a.k <> 0: 0.5 passes since batch 0"
    assert line["changes"][2]["plan"] == "mesh a: b 60 % by if x <= 0 then 0 else 0"
    run = json.loads(found["run.json"])
    assert (run["sinks"], run["error"]) == (["kafka"], "left out: it may quote data")
