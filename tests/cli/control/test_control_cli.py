"""Commands on a checkpoint: they find out what runs there, and ask and steer it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.control import ordering
from penstock.cli.main import app
from penstock.engine.control.order import give, order_names
from penstock.engine.places.place import Place
from penstock.engine.reports.log import ReportLog
from penstock.engine.reports.reading import read_reports
from penstock.engine.state.store import Store
from penstock.stats.files.load import load
from support.engines.reported import following, made, script, write_file
from support.waiting import PATIENCE, wait_until

COMMAND = [sys.executable, "-c", "from penstock.cli.main import main; main()"]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint"


def penstock(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(each) for each in arguments])


def run_once(text: str, checkpoint: object) -> None:
    options: dict[str, Any] = {"sink": "noop", "checkpoint": checkpoint, "available_now": True}
    with ps.sql(text, engine="local").local(**options) as run:
        run.await_termination()


@pytest.mark.parametrize(
    "arguments", [["stop"], ["replan", "on"], ["shed", "off"], ["status"], ["analyze", "--from"]]
)
def test_what_is_no_checkpoint_is_refused(arguments: list[str], tmp_path: Path) -> None:
    command, *more = arguments
    words = [command, *more, tmp_path] if "--from" in more else [command, tmp_path, *more]
    done = penstock(*words)
    assert done.exit_code == 1
    assert f"{tmp_path} is not a checkpoint\nhint: " in str(done.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["stop"], ["replan", "off"], ["replan", "--plan=(a b)"]])
def test_orders_are_refused_where_nothing_runs(
    arguments: list[str], tmp_path: Path, checkpoint: Path
) -> None:
    run_once(script(tmp_path), checkpoint)
    command, *more = arguments
    done = penstock(command, checkpoint, *more)
    assert done.exit_code == 1
    assert f"no query runs on {checkpoint}\nhint: " in str(done.exception)
    assert order_names(Store(Place.of(checkpoint))) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["replan", "x"],
        ["replan", "x", "on", "--plan", "(a b)"],
        ["replan", "x", "maybe"],
        ["replan", "x", "--plan", ""],
        ["shed", "x"],
        ["shed", "x", "maybe"],
        ["status"],
        ["status", "x", "--format", "xml"],
        ["analyze"],
    ],
)
def test_wrong_usage_of_a_command_exits_with_2(arguments: list[str]) -> None:
    done = penstock(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")


def test_a_run_is_asked_and_steered(tmp_path: Path, checkpoint: Path) -> None:
    with following(script(tmp_path), checkpoint) as run:
        # Lines are in the log a moment after their batches.
        wait_until(lambda: "9 in all" in penstock("status", checkpoint).stdout)
        shown = penstock("status", checkpoint).stdout
        assert f"runs on local, process {os.getpid()} on " in shown
        done = penstock("replan", checkpoint, "--plan", "(a b)")
        assert (done.exit_code, done.stdout) == (0, "pin (a b): the plan from batch 3 on\n")
        words = penstock("status", checkpoint).stdout.split()
        assert words[words.index("pinned") :][1:3] == ["(a", "b),"]
        refused = penstock("replan", checkpoint, "--plan", "(a x)")
        assert refused.exit_code == 1
        assert "pin (a x): refused: no input is called x" in str(refused.exception)
        assert "shedding is on" in penstock("shed", checkpoint, "on").stdout
        assert (
            penstock("replan", checkpoint, "advise").stdout == "replan advise: replan is advise\n"
        )
        stopped = penstock("stop", checkpoint)
        assert (stopped.exit_code, stopped.stdout) == (0, "stop: the run ends after batch 2\n")
        wait_until(lambda: not run.is_active)
    data = json.loads(penstock("status", checkpoint, "--format", "json").stdout)
    assert (data["is_running"], data["last"]["batch"]) == (False, 2)
    assert (data["last"]["plan"], data["pinned"]) == ("a: b; b: a", None)
    assert data["run"]["query"] == script(tmp_path)
    assert [change["kind"] for change in data["changes"]].count("order") == 5


def test_nobody_needs_to_wait(tmp_path: Path, checkpoint: Path) -> None:
    with following(script(tmp_path), checkpoint) as run:
        assert penstock("stop", checkpoint, "--no-wait").stdout == "stop: given\n"
        wait_until(lambda: not run.is_active)


def test_a_run_that_does_not_listen_keeps_its_order(
    tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in this process that nobody waits for."""
    monkeypatch.setattr(ordering, "_PATIENCE", 0.0)
    query = ps.sql(script(tmp_path), engine="local")
    with query.local(sink="noop", checkpoint=checkpoint, available_now=True) as run:
        assert "given, not answered yet" in penstock("stop", checkpoint).stdout
        run.await_termination()
    assert run.last_report is None


@pytest.mark.parametrize("words", [["stop"], ["replan", "on"]], ids=" ".join)
def test_a_run_that_ends_first_is_told_of(
    words: list[str], tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wanted its end has it; any other order was not obeyed."""
    query = ps.sql(script(tmp_path), engine="local")
    run = query.local(sink="noop", checkpoint=checkpoint)
    store = Store(Place.of(checkpoint))

    def given(*arguments: Any) -> Any:
        made = give(*arguments)
        run.stop()
        return made

    monkeypatch.setattr("penstock.engine.control.order.give", given)
    command, *more = words
    done = penstock(command, checkpoint, *more)
    if command == "stop":
        assert (done.exit_code, done.stdout) == (0, "stop: the run has ended by itself\n")
    else:
        assert done.exit_code == 1
        assert "ended before it answered" in str(done.exception)
    assert order_names(store) == []


@pytest.mark.parametrize(
    ("words", "named", "said"),
    [
        ([], "whether", "give on, advise or off, or a plan: --plan TEXT"),
        (["on", "--plan", "(a b)"], "whether", "give one of them"),
        (["--plan", ""], "--plan", "it is empty"),
        (["maybe"], "whether", "is not one of 'on', 'advise', 'off'"),
    ],
)
def test_wrong_usage_of_replan_names_what_is_wrong(words: list[str], named: str, said: str) -> None:
    shown = " ".join(penstock("replan", "x", *words).stderr.replace("│", " ").split())
    assert f"Invalid value for {named}" in shown.replace("'", "").replace("[", "")
    assert said.replace("'", "") in shown.replace("'", "")


def test_a_first_run_that_failed_is_shown(tmp_path: Path, checkpoint: Path) -> None:
    (tmp_path / "theirs").write_text("not JSON")
    query = ps.sql(script(tmp_path), engine="local")
    with pytest.raises(ps.PenstockError):
        query.local(sink=f"jsonl:{tmp_path / 'theirs'}", checkpoint=checkpoint)
    shown = penstock("status", checkpoint).stdout
    assert "by an error: " in shown
    assert "\nit ended before its first batch\n" in shown
    assert "hint" not in shown
    assert f"no query runs on {checkpoint}" in str(penstock("stop", checkpoint).exception)


def test_a_checkpoint_without_reports_says_so(tmp_path: Path, checkpoint: Path) -> None:
    """As one of an earlier version, which has none."""
    run_once(script(tmp_path), checkpoint)
    for path in (checkpoint / "reports").iterdir():
        path.unlink()
    (checkpoint / "reports").rmdir()
    shown = penstock("status", checkpoint)
    assert shown.exit_code == 0
    assert "there are no reports in it\nhint: " in shown.stdout
    assert "there are no reports in" in str(penstock("analyze", "--from", checkpoint).exception)
    write_file(tmp_path, "a", 4)
    run_once(script(tmp_path), checkpoint)
    assert "12 in all" in penstock("status", checkpoint).stdout


def test_a_checkpoint_far_away_is_shown(tmp_path: Path) -> None:
    checkpoint = f"mock://host/{tmp_path.name}/ck?secret=hush"
    run_once(script(tmp_path), checkpoint)
    shown = penstock("status", checkpoint).stdout
    assert "9 in all" in shown
    assert "does not run: ended" in shown
    assert "hush" not in shown


def test_what_is_watched_is_shown_until_it_ends(tmp_path: Path, checkpoint: Path) -> None:
    run_once(script(tmp_path), checkpoint)
    watched = penstock("status", checkpoint, "--watch")
    assert watched.stdout.count("checkpoint  ") == 1
    lines = penstock("status", checkpoint, "--watch", "--format", "json").stdout.splitlines()
    assert json.loads(lines[0])["is_running"] is False


def test_what_was_measured_is_a_stats_file(tmp_path: Path, checkpoint: Path) -> None:
    text = script(tmp_path)
    run_once(text, checkpoint)
    figures = {"a": {"rate": {"value": 2.5, "origin": "measured", "error": 0.5}}}
    log = ReportLog(Store(Place.of(checkpoint)))
    log.tell(made(3, stats={"streams": figures, "joins": {"a.k = b.k": {"selectivity": 0.5}}}))
    log.tell(made(4))
    log.close()
    done = penstock("analyze", "--from", checkpoint)
    assert done.exit_code == 0, done.exception
    assert done.stdout.startswith("# Measured by a run of penstock, up to batch 3;")
    assert 'rate = {value = 2.5, origin = "measured", error = 0.5}' in done.stdout
    output = tmp_path / "measured.toml"
    (tmp_path / "query.cql").write_text(text)
    wrote = penstock("analyze", tmp_path / "query.cql", "--from", checkpoint, "--output", output)
    assert wrote.exit_code == 0, wrote.exception
    query = ps.sql(text).query
    rate = load(output, query).stream("a").rate
    assert rate is not None
    assert (rate.value, rate.origin) == (2.5, "measured")


def test_figures_of_another_query_are_refused(tmp_path: Path, checkpoint: Path) -> None:
    run_once(script(tmp_path), checkpoint)
    other = tmp_path / "other.cql"
    text = script(tmp_path)
    other.write_text(text.replace("b [RANGE", "b AS c [RANGE").replace("b.", "c."))
    done = penstock("analyze", other, "--from", checkpoint)
    assert done.exit_code == 1
    said = str(done.exception)
    assert f"checkpoint {checkpoint} belongs to another query: its inputs differ" in said
    assert ", b [RANGE 10 SECONDS] AS b" in said
    assert ", b [RANGE 10 SECONDS] AS c" in said
    assert "hint: leave the file out" in said
    # The same streams with another column: its figures are of the column that was there.
    other.write_text(text.replace("k INT", "k BIGINT"))
    assert "its columns differ" in str(penstock("analyze", other, "--from", checkpoint).exception)
    other.write_text(text)
    assert penstock("analyze", other, "--from", checkpoint).exit_code == 0


def test_rates_are_told_where_nothing_else_was_measured(tmp_path: Path, checkpoint: Path) -> None:
    run_once(script(tmp_path), checkpoint)
    segment = checkpoint / "reports" / "000000000000.jsonl"
    lines = [json.loads(line) for line in segment.read_text().splitlines()]
    segment.write_text("".join(f"{json.dumps(line | {'stats': {}})}\n" for line in lines))
    done = penstock("analyze", "--from", checkpoint)
    assert done.exit_code == 0, done.exception
    assert "told only rates" in done.stderr
    assert 'rate = {value = 1.0, origin = "measured", error = 0.71}' in done.stdout
    (checkpoint / "reports" / "run.json").unlink()
    assert "of which query" in str(penstock("analyze", "--from", checkpoint).exception)


def test_one_batch_tells_no_rate(tmp_path: Path, checkpoint: Path) -> None:
    run_once(script(tmp_path, files=1), checkpoint)
    assert "no rate is known" in str(penstock("analyze", "--from", checkpoint).exception)


@pytest.fixture
def killed(tmp_path: Path, checkpoint: Path) -> Iterator[Path]:
    """The checkpoint of a process that was killed while it waited."""
    query = tmp_path / "query.cql"
    query.write_text(script(tmp_path))
    options = ["--engine=local", "--sink=noop", "--trigger=10ms", f"--checkpoint={checkpoint}"]
    with subprocess.Popen([*COMMAND, "run", str(query), *options], stderr=subprocess.PIPE) as run:
        wait_until(lambda: run.poll() is not None or len([*read_reports(checkpoint)]) == 3)
        assert "runs on local" in penstock("status", checkpoint).stdout
        run.send_signal(signal.SIGKILL)
        assert run.wait(timeout=PATIENCE) == -signal.SIGKILL
        yield checkpoint


def test_a_killed_run_does_not_run_and_another_goes_on(killed: Path, tmp_path: Path) -> None:
    assert "does not run: it was killed" in penstock("status", killed).stdout
    assert "no query runs on" in str(penstock("stop", killed).exception)
    give(Store(Place.of(killed)), "stop")
    with open(killed / "reports" / "000000000000.jsonl", "ab") as log:
        log.write(b'{"version": 1, "kind": "ba')  # As if killed in the middle of a line.
    for name in "ab":
        write_file(tmp_path, name, 4)
    with following(script(tmp_path), killed) as run:
        assert run.last_report is not None
        assert run.last_report.total_results == 16
        assert "runs on local" in penstock("status", killed).stdout
    assert [report.total_results for report in read_reports(killed)] == [1, 4, 9, 16]
    assert "refused: it was given before this run" in penstock("status", killed).stdout


@pytest.mark.parametrize("command", ["status", "stop", "replan", "shed", "analyze"])
def test_every_command_has_help(command: str) -> None:
    assert "--" in penstock(command, "--help").stdout
