"""The text of a status: golden, and short where little is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cli.control.status_json import status_json
from penstock.cli.control.status_text import status_text
from penstock.engine.places.place import Place
from penstock.engine.reports.parts import (
    Change,
    FigureReport,
    InputReport,
    ModuleReport,
    OperatorReport,
    Prediction,
)
from penstock.engine.reports.run_head import RunHead
from penstock.engine.reports.standing import Decided, Standing
from penstock.engine.state.no_results import Waiting
from support.engines.reported import made
from support.golden import as_reviewed
from support.paths import GOLDEN

SECOND = 1_000_000
NOON = 1_767_268_800
NOW = NOON + 3_600.0
HEAD = RunHead(
    query="SELECT … FROM 's3://me:secret@bucket/a?secret_key=hush'",
    engine="spark",
    sink="parquet:out/slow",
    trigger=10.0,
    partitions=4,
    host="mill",
    process=42,
    started_at=float(NOON),
)
FULL = made(
    41,
    at=NOW - 3,
    seconds=0.31,
    cpu=0.52,
    read={"bid": 50_130, "auction": 510},
    late={"bid": 12, "auction": 0},
    malformed={"bid": 0, "auction": 0},
    newest={"bid": NOON * SECOND, "auction": (NOON - 1) * SECOND + 500_000},
    frontier=(NOON - 1) * SECOND + 500_000,
    results=5_604,
    total_results=1_204_332,
    state_tuples=20_112,
    span=10.0,
    busy=0.12,
    delay=0.4,
    backlog={"bid": 3, "auction": 0},
    phases={"wait": 8.7, "feed": 0.01, "pack": 0.11, "round 0": 0.15, "commit": 0.03},
    inputs={
        "b": InputReport(50_118, 5_012, 0.9, 5_013.0, 5_727.25, 1_000.0),
        "a": InputReport(510, rate=51.0, arrival_rate=58.3, predicted_rate=50.0),
    },
    modules={"b@0": ModuleReport(18_000, 1_440_000, 15_000.0), "a@0": ModuleReport(2_112, 84_480)},
    operators=(
        OperatorReport("a", 0, "a.reserve > 10", "filter", 510, 500, None, 0.0001, 0.95),
        OperatorReport("b", 0, "a", "probe", 45_106, 5_604, 9e7, 0.08, 2.5),
        OperatorReport("a", 1, "b", "probe", 0, 0, 0.0, 0.0, 2.5),
    ),
    plan="b: a; a: b",
    prediction=Prediction(0.31, 410.0, 17_112.0, 13.1),
    figures=(
        FigureReport("rate of a", 51.0, 2.2, "tuples/s", 50.0),
        FigureReport("b.auction = a.id", 0.002, 1e-5, "", 0.1),
        FigureReport("rate of b", 5_013.0, 22.4, "tuples/s", 1_000.0),
        FigureReport("a.reserve > 10", 0.98, None, "passes"),
    ),
)
DECISIONS = (
    Decided(38, NOW - 33, Change("drift", "rate of b is 5,013/s, 5.01 times what it was")),
    Decided(
        39,
        NOW - 23,
        Change("switch", "0.21 s/s of work against 0.31", "b: a; a: b", 0.32),
    ),
    Decided(41, NOW - 3, Change("outcome", "of the switch at batch 39", None, 0.32, 0.29)),
    Decided(None, NOW - 1, Change("order", "pin (x: refused: a bracket is open\nhint: close it")),
)
STANDING = Standing(Place.of("/data/ckpt"), True, HEAD, FULL, DECISIONS)


def test_the_whole_status_is_as_reviewed() -> None:
    assert as_reviewed(GOLDEN / "status.txt", status_text(STANDING, NOW))


def test_what_is_not_known_is_left_out() -> None:
    little = Standing(Place.of("/data/ckpt"), False, None, made(0, at=0.0, frontier=None))
    assert status_text(little, NOW) == (
        "checkpoint  /data/ckpt\n"
        "run         does not run\n"
        "batch       0, took 0.25 s\n"
        "results     3 in the batch, 3 in all\n"
        "state       20 tuples\n"
        "\n"
        "stream  rows\n"
        "──────  ────\n"
        "a         10\n"
    )


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (replace(STANDING, is_running=False), "does not run: it was killed (on spark, process 42"),
        (
            replace(STANDING, is_running=False, head=replace(HEAD, ended_at=NOW)),
            "does not run: ended 2026-01-01 13:00:00 (on spark",
        ),
        (
            replace(STANDING, is_running=False, head=replace(HEAD, ended_at=NOW, error="no disk")),
            "ended 2026-01-01 13:00:00 by an error: no disk (on spark",
        ),
        (replace(STANDING, last=None, decisions=()), "no batch yet"),
        (
            replace(STANDING, last=None, is_running=False, head=None, decisions=()),
            "there are no reports in it\nhint: ",
        ),
        (
            replace(STANDING, last=replace(FULL, waiting=Waiting("no match yet"), results=0)),
            "none in it: no match yet",
        ),
        (replace(STANDING, head=replace(HEAD, available_now=True)), "reads all there is, into"),
        (replace(STANDING, last=replace(FULL, backlog={"bid": 0})), "backlog     none"),
    ],
)
def test_how_a_run_stands(standing: Standing, said: str) -> None:
    assert said in status_text(standing, NOW)


@pytest.mark.parametrize(
    ("busy", "verdict"),
    [
        (0.1, "10 %: it keeps up with 90 % to spare, keeping 90 % of b\n"),
        (0.9, "90 %: it keeps up with 10 % to spare, keeping 90 % of b\n"),
        (1.0, "100 %: it has no time to spare, keeping 90 % of b\n"),
    ],
)
def test_the_busy_share_has_a_verdict(busy: float, verdict: str) -> None:
    assert verdict in status_text(replace(STANDING, last=replace(FULL, busy=busy)), NOW)


def test_the_verdict_is_by_the_last_batches() -> None:
    batches = [replace(FULL, batch=40 + n, at=NOW - 3 + n, delay=40.0) for n in range(4)]
    head = replace(HEAD, delay=30.0)
    behind = replace(STANDING, head=head, last=batches[-1], recent=tuple(batches))
    said = "it is behind: its delay is 40 s, and 30 s are wanted"
    assert said in status_text(behind, NOW)
    assert f"it {status_json(behind)['verdict']}".startswith(said)


def test_who_reads_all_there_is_may_be_busy() -> None:
    head = replace(HEAD, available_now=True, ended_at=NOW)
    full = replace(STANDING, last=replace(FULL, busy=1.0), head=head)
    assert "100 %: it reads all there is as fast as it can\n" in status_text(full, NOW)
    over = replace(full, is_running=False)
    assert "100 %: it read what was there as fast as it could\n" in status_text(over, NOW)
    stopped = replace(over, head=replace(head, available_now=False))
    assert "busy        100 %\n" in status_text(stopped, NOW)


def test_a_long_list_is_cut() -> None:
    figures = tuple(FigureReport(f"f{n}", 1.0, None, "", 1.0 + n) for n in range(25))
    text = status_text(replace(STANDING, last=replace(FULL, figures=figures)), NOW)
    assert "… 5 more" in text
    assert "f24 " in text
    assert "f3 " not in text


def test_odd_numbers_do_no_harm() -> None:
    odd = float("nan"), float("inf")
    for value in odd:
        report = replace(
            FULL,
            busy=value,
            phases={"wait": 0.0},
            figures=(FigureReport("x", value, value, "", 0.0),),
            inputs={"a": InputReport(0, rate=value, predicted_rate=value)},
            prediction=Prediction(value, value, value),
        )
        assert "/data/ckpt" in status_text(replace(STANDING, last=report), NOW)


def test_json_has_the_last_report_the_run_and_the_changes() -> None:
    data = status_json(STANDING)
    assert (data["version"], data["is_running"], data["checkpoint"]) == (1, True, "/data/ckpt")
    assert data["last"]["kind"] == "batch"
    assert data["last"]["lag"] == 500_000
    assert data["last"]["inputs"]["b"]["predicted_rate"] == 1_000.0
    assert data["run"]["engine"] == "spark"
    assert [change["kind"] for change in data["changes"]] == ["drift", "switch", "outcome", "order"]
    assert data["changes"][1]["promise"] == 0.32
    assert "secret@" not in str(data)
    assert "hush" not in str(data)
    assert status_json(Standing(Place.of("/x"), False, None, None))["last"] is None
