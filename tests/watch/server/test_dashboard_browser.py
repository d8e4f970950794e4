"""The dashboard in a real browser without a screen: every view opens, and text stays text."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from penstock.watch.server.app import dashboard_app
from penstock.watch.views import VIEWS
from support.waiting import PATIENCE, wait_until
from support.watch.watched_runs import hostile

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
TOKEN = "let-me-in"

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium")


@contextmanager
def served(checkpoint: Path) -> Iterator[str]:
    """The address of a dashboard for the length of a `with` block."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = dashboard_app([str(checkpoint)], TOKEN)
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/?token={TOKEN}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def opened(address: str, profile: Path) -> tuple[str, str]:
    """The page as it is once its scripts have run, and what they had to say."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    # Whatever is not on this machine has no address.
    options += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    options += ["--enable-logging=stderr", f"--user-data-dir={profile}"]
    options += ["--virtual-time-budget=8000", "--dump-dom"]
    done = subprocess.run(
        [str(BROWSER), *options, address], capture_output=True, text=True, timeout=PATIENCE
    )
    said = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return done.stdout, "\n".join(said)


def test_every_view_opens_and_nothing_becomes_markup(tmp_path: Path) -> None:
    with served(hostile(tmp_path)) as address:
        for name in VIEWS:
            page, said = opened(f"{address}&still=1#{name}", tmp_path / "profile")
            assert f'data-view="{name}"' in page.split("<main", 1)[1].split(">", 1)[0], page
            assert said == "", name
            assert "<title>Penstock</title>" in page
            assert "<img" not in page
            assert 'role="alert"' not in page
