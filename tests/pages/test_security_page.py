"""The page about security: what it says is refused is refused, in these words."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.errors import PenstockError
from support.pages.page_blocks import blocks_of
from support.paths import ROOT

OTHERS = """
CREATE STREAM users (line STRING) WITH (format = 'csv', path = '/etc/passwd', header = 'false');
SELECT line FROM users [NOW];
"""


def test_a_safe_run_refuses_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shown,) = (b for b in blocks_of(ROOT / "docs" / "security.md") if b.kind == "console")
    command, said = shown.text.splitlines()
    (tmp_path / "query.cql").write_text(OTHERS)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, shlex.split(command.removeprefix("$ penstock ")))
    assert isinstance(done.exception, PenstockError)
    assert str(done.exception).splitlines()[0] == said.removeprefix("error: ")
