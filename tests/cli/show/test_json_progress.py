"""`--log json`: every line on stderr is an object, whatever is in it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.cli.show.json_progress import FIELDS, JsonProgress
from penstock.cli.show.voice import Voice
from penstock.engine.reports.entries import entry_json
from penstock.engine.reports.parts import Change
from penstock.engine.reports.reading import read_reports
from penstock.engine.state.no_results import Waiting
from penstock.errors import SqlError
from support.engines.reported import made, script


def objects(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    for each in found:
        assert (each["version"], each["level"] in ("info", "warning", "error")) == (1, True)
        assert each["at"] > 1e9
    return found


def test_batches_decisions_and_the_end_are_objects(capsys: pytest.CaptureFixture[str]) -> None:
    waits = Waiting("waits\nfor b", "try --drain")
    with JsonProgress() as progress:
        progress(made(0, results=0, waiting=waits, busy=float("nan")))
        progress(made(1, results=0, waiting=waits, changes=(Change("behind", "late"),)))
        progress(made(2, members={"q": made(2, changes=(Change("switch", "x", "a: b", 0.5),))}))
    found = objects(capsys.readouterr().err)
    assert [each["event"] for each in found] == [
        *("batch", "waiting", "batch", "decision", "batch", "decision", "end"),
    ]
    assert (found[0]["busy"], found[0]["read"], found[0]["results"]) == (None, {"a": 10}, 0)
    assert (found[1]["reason"], found[1]["level"]) == ("waits\nfor b", "warning")
    assert (found[3]["kind"], found[3]["level"], found[3]["batch"]) == ("behind", "warning", 1)
    assert (found[5]["query"], found[5]["promise"], found[5]["level"]) == ("q", 0.5, "info")
    assert (found[6]["batches"], found[6]["read"], found[6]["results"]) == (3, 30, 3)


def test_a_run_tells_its_log_as_objects(tmp_path: Path) -> None:
    (tmp_path / "query.cql").write_text(script(tmp_path))
    arguments = ["--engine", "local", "--available-now", "--sink", "console", "--log", "json"]
    place = tmp_path / "checkpoint"
    done = CliRunner().invoke(
        app, ["run", str(tmp_path / "query.cql"), *arguments, "--checkpoint", str(place)]
    )
    found = objects(done.stderr)
    told = [each for each in found if each["event"] == "batch"]
    wanted = [entry_json(report) for report in read_reports(place)]
    assert [{n: each[n] for n in FIELDS} for each in told] == [
        {n: each[n] for n in FIELDS} for each in wanted
    ]
    assert {each["event"] for each in found} >= {"note", "batch", "end"}
    assert len(done.stdout.splitlines()) == 9  # Results are where they were.


def test_errors_and_warnings_are_objects(capsys: pytest.CaptureFixture[str]) -> None:
    secret = 'read "s3://u:hunter2@x/?token=hunter3"'
    with pytest.raises(typer.Exit) as end:
        _complain(Voice("json"), secret)
    found = objects(capsys.readouterr().err)
    assert [each["event"] for each in found] == ["log", "note", "error"]
    assert (found[0]["message"], found[0]["logger"]) == ("the log is incomplete", "penstock.engine")
    assert found[1]["message"] == 'read "s3://u:*******@x/?token=***"'
    assert (found[2]["message"], found[2]["hint"]) == ("what is this", "leave it out")
    assert end.value.exit_code == 1


def _complain(voice: Voice, secret: str) -> None:
    with voice.errors():
        logging.getLogger("penstock.engine").warning("the log is %s", "incomplete")
        voice.note(secret)
        raise SqlError("what is this", hint="leave it out")


def test_text_is_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    voice = Voice("text")
    with voice.errors():
        voice.note("well")
        voice.say("starting")
    assert capsys.readouterr().err == "note: well\nstarting\n"


def test_the_laboratory_has_neither(tmp_path: Path) -> None:
    (tmp_path / "query.cql").write_text(script(tmp_path))
    for option in (["--log", "json"], ["--metrics", "0"]):
        words = ["run", str(tmp_path / "query.cql"), "--engine", "local", "--eager", *option]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 2
        assert "the laboratory runs in no batches" in done.stderr
