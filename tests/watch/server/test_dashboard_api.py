"""The dashboard's server: its numbers are the log's, and only who has the token sees them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from penstock.watch.log_reader import read_log
from penstock.watch.log_view import LogView
from penstock.watch.server.app import PAGE, dashboard_app
from penstock.watch.server.events import PACE, news
from penstock.watch.server.runs import Watched
from penstock.watch.views import VIEWS
from support.engines.reported import following, made, script
from support.paths import ROOT
from support.waiting import wait_until
from support.watch.watched_runs import HOSTILE, chained, hostile, run_of

TOKEN = "let-me-in"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(chained(), tmp_path_factory.mktemp("served"))


def client(*checkpoints: Path, control: bool = False) -> TestClient:
    app = dashboard_app([str(each) for each in checkpoints], TOKEN, control=control)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return TestClient(app, base_url="http://127.0.0.1:8321", headers=headers)


def get(asked: TestClient, path: str, **more: object) -> Any:
    answer = asked.get(path, params={name: str(each) for name, each in more.items()})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_view_is_json_with_the_figures_of_the_log(checkpoint: Path) -> None:
    asked, last = client(checkpoint), read_log(str(checkpoint)).reports[-1]
    found = get(asked, "/api/runs")
    assert [run["checkpoint"] for run in found["runs"]] == [str(checkpoint)]
    assert found["views"] == list(VIEWS)
    assert not found["control"]
    for name in VIEWS:
        assert get(asked, f"/api/{name}")["version"] == 1
    now = get(asked, "/api/now")
    assert (now["batch"], now["results"]) == (last.batch, last.results)
    assert {line["alias"]: line["rate"] for line in now["streams"]} == {
        alias: each.rate for alias, each in last.inputs.items()
    }
    plan = get(asked, "/api/plan")
    assert plan["plan"] == last.plan
    assert plan["standing"].startswith(f"followed from batch {plan['since']} on")
    assert get(asked, "/api/batches")["batches"][-1]["phases"] == last.phases


@pytest.mark.parametrize("path", ["/", "/api/runs", *(f"/api/{name}" for name in VIEWS)])
def test_who_has_no_token_sees_nothing(path: str, checkpoint: Path) -> None:
    app = dashboard_app([str(checkpoint)], TOKEN)
    stranger = TestClient(app, base_url="http://127.0.0.1")
    for token in (None, "", "wrong", TOKEN + "x", "ü"):
        refused = stranger.get(path, params={} if token is None else {"token": token})
        assert refused.status_code == 403
        assert set(refused.json()) == {"error", "hint"}
    assert stranger.get(path, params={"token": TOKEN}).status_code == 200
    elsewhere = TestClient(app, base_url="http://attacker.example")
    assert elsewhere.get(path, params={"token": TOKEN}).status_code == 400


def test_several_runs_are_told_apart(checkpoint: Path, tmp_path: Path) -> None:
    other = run_of(chained(batches=2), tmp_path)
    asked = client(checkpoint, other)
    assert [get(asked, "/api/now", run=number)["batch"] for number in (0, 1)] == [15, 1]
    for strange in ("2", "-1", "x", "9" * 30):
        refused = asked.get("/api/now", params={"run": strange})
        assert (refused.status_code, refused.json()["hint"]) == (400, "runs are 0 to 1")
    refused = asked.get("/api/now", params={"query": "q"})
    assert refused.json()["error"] == "there is no query q"


def test_news_come_with_every_batch(tmp_path: Path) -> None:
    checkpoint = run_of(chained(batches=2), tmp_path)
    (segment,) = (checkpoint / "reports").glob("*.jsonl")
    batch = next(line for line in segment.read_bytes().splitlines() if b'"kind": "batch"' in line)

    async def told() -> list[dict[str, Any]]:
        heard: list[dict[str, Any]] = []

        async def is_gone() -> bool:
            return len(heard) == 2

        async for line in news(Watched(str(checkpoint)), is_gone, pace=0.0):
            if line.startswith("data: "):
                heard.append(json.loads(line.removeprefix("data: ")))
            if len(heard) == 1:
                with segment.open("ab") as file:
                    file.write(batch + b"\n")
        return heard

    first, second = asyncio.run(told())
    assert (first["batch"], second["batch"]) == (1, 0)


def test_news_are_told_at_the_next_look_and_looks_are_at_most_a_second_apart() -> None:
    """So a switch of plans is on the page within two seconds, however fast the machine is."""
    assert PACE <= 1.0
    assert f"looks at the logs every {PACE:g} s" in (ROOT / "docs" / "dashboard.md").read_text()
    # The page itself waits for nothing: it asks when it is told.
    scripts = "".join(path.read_text("utf-8") for path in PAGE.glob("*.js"))
    assert "listening.onmessage = refresh" in scripts
    assert "setInterval" not in scripts
    looks = 0

    class Log(Watched):
        def __init__(self) -> None:
            pass

        def log(self) -> LogView:
            nonlocal looks
            looks += 1
            return LogView("x", reports=(made(0), made(1, plan="another"))[: 1 if looks < 5 else 2])

    async def heard() -> list[int]:
        async def is_gone() -> bool:
            return looks == 9

        told = [looks async for line in news(Log(), is_gone, pace=0.0) if line.startswith("data: ")]
        return told

    assert asyncio.run(heard()) == [1, 5]


def test_the_page_loads_nothing_from_elsewhere(checkpoint: Path) -> None:
    page = client(checkpoint).get("/")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    files = [path for path in PAGE.iterdir() if path.is_file()]
    assert {path.suffix for path in files} == {".html", ".css", ".js", ".svg"}
    for path in files:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.findall(r"https?:|//[a-z]+\.|url\(|@import", text), path.name
        served = client(checkpoint).get(f"/page/{path.name}")
        assert (served.status_code, served.text) == (200, path.read_text("utf-8"))
    library = (PAGE / "vendor" / "uPlot.iife.min.js").read_text("utf-8")
    assert not re.findall(r"https?:|eval\(|new Function|innerHTML", library.partition("*/")[2])
    named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert named
    for name in named:
        assert client(checkpoint).get(name).status_code == 200


def test_no_script_makes_markup_of_text() -> None:
    """What comes from data is put in as text: nothing that parses markup is ever called."""
    for path in PAGE.glob("*.js"):
        text = path.read_text("utf-8")
        ways = r"innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|eval\(|new Function"
        assert not re.findall(ways, text), path.name


def test_no_path_leads_out_of_the_page(checkpoint: Path) -> None:
    asked = client(checkpoint)
    for path in ("/page/../views.py", "/page/%2e%2e/views.py", "/page//etc/passwd"):
        assert asked.get(path).status_code == 404


def test_a_dashboard_gives_orders_only_if_it_may(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    with following(script(tmp_path), checkpoint) as run:
        refused = client(checkpoint).post("/api/orders", json={"kind": "stop"})
        assert (refused.status_code, refused.json()["hint"]) == (403, "start it with --control")
        asked = client(checkpoint, control=True)
        assert get(asked, "/api/runs")["control"]
        for wrong in (
            "x",
            '{"kind": "delete"}',
            "[]",
            "[" * 100_000,
            '{"kind": "stop", "value": 1}',
        ):
            assert asked.post("/api/orders", content=wrong).status_code == 400
        mistyped = asked.post("/api/orders", json={"kind": "replan", "value": "onn"})
        said = "this is no order: replan takes on or advise or off, not 'onn'"
        assert (mistyped.status_code, mistyped.json()["error"]) == (400, said)
        assert run.is_active
        done = asked.post("/api/orders", json={"kind": "replan", "value": "off"})
        assert done.json()["given"] == "replan off"
        wait_until(lambda: "replan off: replan is off" in asked.get("/api/decisions").text)
        assert asked.post("/api/orders", json={"kind": "stop"}).status_code == 200
        wait_until(lambda: not run.is_active)
    refused = asked.post("/api/orders", json={"kind": "stop"})
    assert refused.json()["error"] == f"no query runs on {checkpoint}"


def test_harmful_text_stays_text_in_json(tmp_path: Path) -> None:
    asked = client(hostile(tmp_path))
    answer = asked.get("/api/results")
    assert answer.headers["content-type"] == "application/json"
    assert HOSTILE in answer.json()["rows"][0]
    assert "<img src=x onerror=alert(1)>" in [
        line["alias"] for line in get(asked, "/api/now")["streams"]
    ]


def test_passwords_are_starred(tmp_path: Path) -> None:
    checkpoint = run_of(chained(batches=2), tmp_path)
    head = checkpoint / "reports" / "run.json"
    told = json.loads(head.read_text())
    told["query"] = "SELECT 's3://me:secret@bucket/x'"
    head.write_text(json.dumps(told))
    assert "secret" not in client(checkpoint).get("/api/plan").text
