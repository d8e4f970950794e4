"""`penstock top`: one frame for scripts, or a live one until the run ends or Ctrl-C is pressed."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from support.engines.reported import following, script
from support.waiting import wait_until

COMMAND = [sys.executable, "-c", "from penstock.cli.main import main; main()"]


def penstock(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(each) for each in arguments])


class Terminal:
    """A command in a terminal of its own, and all that it has drawn so far."""

    def __init__(self, *arguments: object):
        mine, its = pty.openpty()
        size = {"COLUMNS": "100", "LINES": "40", "TERM": "xterm"}
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=its,
            stdout=its,
            stderr=its,
            env=os.environ | size,
            start_new_session=True,
        )
        os.close(its)
        self.text = ""
        self._reader = threading.Thread(target=self._read, args=(mine,), daemon=True)
        self._reader.start()

    def _read(self, mine: int) -> None:
        try:
            while data := os.read(mine, 1 << 16):
                self.text += data.decode("utf-8", "replace")
        except OSError:  # So does a terminal end whose other side is closed.
            pass
        finally:
            os.close(mine)

    def end(self) -> int:
        code = self.process.wait(60)
        self._reader.join(60)
        return code

    @property
    def last(self) -> str:
        """The last line, after the screen is as it was."""
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.text)
        return [line for line in plain.splitlines() if line.strip()][-1]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint"


def test_it_is_live_until_ctrl_c_or_the_end(tmp_path: Path, checkpoint: Path) -> None:
    with following(script(tmp_path), checkpoint) as run:
        terminals = [Terminal("top", checkpoint, "--every", "0.1") for _ in range(2)]
        wait_until(lambda: all("plan  a: b; b: a" in each.text for each in terminals))
        interrupted, ending = terminals
        interrupted.process.send_signal(signal.SIGINT)
        assert interrupted.end() == 0
        assert re.search(r"/checkpoint: .*, batch 2; it goes on$", interrupted.last)
        assert "Traceback" not in interrupted.text
        assert run.is_active
        run.stop()
        assert ending.end() == 0
        assert ending.last.endswith("/checkpoint: has ended, batch 2")


def test_one_frame_of_a_run_and_of_one_that_has_ended(tmp_path: Path, checkpoint: Path) -> None:
    with following(script(tmp_path), checkpoint):
        wait_until(lambda: "\n2 " in penstock("top", checkpoint, "--once").stdout)
        running = penstock("top", checkpoint, "--once").stdout
        assert running.startswith(f"{checkpoint}: ")
        assert "\nplan  a: b; b: a\n" in running
    ended = penstock("top", checkpoint)
    assert ended.exit_code == 0
    assert ended.stdout.startswith(f"{checkpoint}: has ended\n")
    assert "\nresults  9, 5 in the last batch" in ended.stdout


def test_a_script_shows_the_query_that_is_asked_for(tmp_path: Path, checkpoint: Path) -> None:
    text = script(tmp_path).rstrip().removesuffix(";") + " INTO pairs;"
    text += "\nSELECT a.ts AS t FROM a [NOW] WHERE a.k = 1 INTO ones;"
    planned = ps.script(text, engine="local")
    sinks = {"pairs": "noop", "ones": "noop"}
    with planned.local(sink=sinks, checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    whole = penstock("top", checkpoint, "--once").stdout
    assert "\n  pairs: a: b; b: a\n" in whole
    assert "\nplan  a: b; b: a\n" in penstock("top", checkpoint, "--query", "pairs").stdout
    wrong = penstock("top", checkpoint, "--query", "nobody")
    assert (wrong.exit_code, "'nobody' is not one of pairs, ones" in wrong.stderr) == (2, True)
    near = penstock("top", checkpoint, "--query", "pair")
    assert "'pair' is not one of pairs, ones; did you mean pairs?" in near.stderr


def test_what_cannot_be_watched_is_refused(tmp_path: Path, checkpoint: Path) -> None:
    assert "is not a checkpoint" in str(penstock("top", tmp_path).exception)
    query = ps.sql(script(tmp_path), engine="local")
    with query.local(sink="noop", checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    single = penstock("top", checkpoint, "--query", "pairs")
    assert (single.exit_code, "is for scripts" in single.stderr) == (2, True)
    assert penstock("top", checkpoint, "--every", "0").exit_code == 2
