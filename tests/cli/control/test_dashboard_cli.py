"""`penstock dashboard`: it prints its address and serves it; what is missing is named."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from support.waiting import PATIENCE
from support.watch.watched_runs import counted

COMMAND = [sys.executable, "-c", "from penstock.cli.main import main; main()", "dashboard"]


def test_it_serves_the_address_that_it_prints(tmp_path: Path) -> None:
    checkpoint = counted(tmp_path)
    words = [*COMMAND, str(checkpoint), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        address = run.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        found = address.replace("/?", "/api/now?")
        with urllib.request.urlopen(found, timeout=PATIENCE) as answer:
            assert (
                json.load(answer)["verdict"]
                == "has ended; it read what was there as fast as it could"
            )
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(found[:-3], timeout=PATIENCE)
        refused.value.close()
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 0
        assert run.stderr.read() == "Ctrl-C ends it\n"


@pytest.mark.parametrize("name", ["starlette", "uvicorn"])
def test_without_the_extra_it_says_how_to_install_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = [each for each in sys.modules if each.split(".")[0] == name]
    ours = [each for each in sys.modules if each.startswith("penstock.watch.server")]
    for each in (*loaded, *ours):
        monkeypatch.delitem(sys.modules, each)
    monkeypatch.setitem(sys.modules, name, None)
    done = CliRunner().invoke(app, ["dashboard", str(tmp_path)])
    assert done.exit_code == 1
    assert str(done.exception) == (
        f"the dashboard needs {name}, which is not installed\n"
        "hint: python -m pip install 'penstock[dashboard]'"
    )


def test_what_cannot_be_served_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["dashboard", str(tmp_path)])
    assert f"{tmp_path} is not a checkpoint\nhint: " in str(done.exception)
    checkpoint = counted(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = CliRunner().invoke(app, ["dashboard", str(checkpoint), "--port", port])
        assert f"port {port} cannot be used" in str(done.exception)
    assert CliRunner().invoke(app, ["dashboard"]).exit_code == 2
