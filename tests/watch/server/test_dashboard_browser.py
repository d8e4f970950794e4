"""The dashboard in a real browser: every view opens, text stays text, and news appear."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from penstock.watch.server.app import dashboard_app
from penstock.watch.views import VIEWS
from support.waiting import wait_until
from support.watch.browser import BROWSER, Browser, browser
from support.watch.watched_runs import HOSTILE, hostile

TOKEN = "let-me-in"

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium")


@contextmanager
def served(checkpoint: Path) -> Iterator[str]:
    """The address of a dashboard for the length of a `with` block."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = dashboard_app([str(checkpoint)], TOKEN)
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def shown(page: Browser, name: str) -> str:
    """The text of a view, once it is there."""
    page.value(f"document.querySelector('nav [data-view=\"{name}\"]').click()")
    wait_until(lambda: page.value("document.getElementById('view').dataset.view") == name)
    return str(page.value("document.getElementById('view').innerText"))


def test_the_page_in_a_browser(tmp_path: Path) -> None:
    checkpoint = hostile(tmp_path)
    with served(checkpoint) as address, browser(tmp_path / "profile") as page:
        page.open(f"{address}?token={TOKEN}")
        wait_until(lambda: page.value("document.querySelectorAll('nav button').length") > 0)
        texts = {name: shown(page, name) for name in VIEWS}
        assert HOSTILE in texts["results"]
        assert "<img src=x onerror=alert(1)>" in texts["now"]
        assert page.value("document.querySelectorAll('img, main script').length") == 0
        assert page.value("document.querySelectorAll('[role=alert]').length") == 0

        # Another plan, as a run would write it into its log, is on the page without a reload.
        shown(page, "plan")
        (segment,) = (checkpoint / "reports").glob("*.jsonl")
        lines = [json.loads(line) for line in segment.read_text().splitlines()]
        last = [line for line in lines if line["kind"] == "batch"][-1]
        news = {**last, "batch": last["batch"] + 1, "plan": "a plan of its own"}
        with segment.open("a") as file:
            file.write(json.dumps(news) + "\n")
        wait_until(
            lambda: "a plan of its own" in page.value("document.getElementById('view').innerText")
        )
        assert page.value("document.title") == "Penstock"
        assert page.said == []
        assert page.asked
        assert [each for each in page.asked if not each.startswith(address)] == []
