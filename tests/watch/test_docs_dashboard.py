"""The page on the dashboard: its code runs, and it leaves no view out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import penstock as ps
from penstock.watch.views import PARTS, VIEWS
from support.engines.reported import script
from support.paths import ROOT

PAGE = (ROOT / "docs" / "dashboard.md").read_text(encoding="utf-8")


def test_every_view_is_on_the_page() -> None:
    for name in (*VIEWS, *PARTS):
        assert f"`/api/{name}`" in PAGE


def test_the_code_on_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    query = ps.sql(script(tmp_path), engine="local")
    with query.local(sink="noop", checkpoint="bids-ckpt", available_now=True) as run:
        run.await_termination()
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert run.last_report is not None
    first, second = capsys.readouterr().out.splitlines()
    assert (
        first
        == f"has ended; it read what was there as fast as it could {run.last_report.total_results}"
    )
    assert second == "True"
