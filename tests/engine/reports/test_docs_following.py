"""The page on following a query: its code runs, and its tables leave nothing out."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import penstock as ps
from penstock.engine.control.order import OrderKind
from penstock.engine.reports.entries import Answer, Began, Ended, Entry, entry_json
from penstock.engine.reports.parts import (
    Change,
    FigureReport,
    InputReport,
    ModuleReport,
    OperatorReport,
    Prediction,
)
from penstock.engine.reports.run_head import RunHead
from penstock.engine.state.no_results import Waiting
from support.engines.reported import made, script
from support.paths import ROOT

PAGE = (ROOT / "docs" / "following.md").read_text(encoding="utf-8")


def row(start: str) -> str:
    """The row of a table, or the paragraph, that begins with a name."""
    return next(part for part in re.split(r"\n(?=\|)|\n\n", PAGE) if part.startswith(start))


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ("| `inputs`", InputReport),
        ("| `operators`", OperatorReport),
        ("| `modules`", ModuleReport),
        ("| `prediction`", Prediction),
        ("| `figures`", FigureReport),
        ("| `changes`", Change),
        ("| `waiting`", Waiting),
        ("| `answer`", Answer),
        ("| `run`", Began),
        ("| `end`", Ended),
        ("`CHECKPOINT/reports/run.json`: `version`", RunHead),
    ],
)
def test_every_field_of_the_log_is_on_the_page(start: str, kind: type) -> None:
    for field in fields(kind):
        assert f"`{field.name}`" in row(start), field.name


@pytest.mark.parametrize(
    "entry",
    [made(0), Began(1.0, 0), Answer(1.0, "1", Change("order", "stop")), Ended(1.0)],
    ids=["batch", "run", "answer", "end"],
)
def test_every_kind_of_line_is_on_the_page(entry: Entry) -> None:
    assert f"\n| `{entry_json(entry)['kind']}` | " in PAGE


def test_every_order_is_on_the_page() -> None:
    for kind in get_args(OrderKind):
        assert f"\n| `{kind}` | " in PAGE


def test_the_code_on_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    query = ps.sql(script(tmp_path), engine="local")
    with query.local(sink="noop", checkpoint="bids-ckpt", available_now=True) as run:
        run.await_termination()
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out.splitlines()[2] == "2 5 a: b; b: a"
