"""The page on DataFrames: its code runs as it stands, and its scripts are scripts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from support.paths import ROOT

PAGE = (ROOT / "docs" / "dataframes.md").read_text(encoding="utf-8")


def test_the_script_reads_what_it_says() -> None:
    (script,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    sources = parse(script).sources
    assert [source.reader for source in sources.values()] == ["delta", "parquet"]
    assert dict(sources["bid"].reader_options)["ignoreDeletes"] == "true"


@pytest.mark.spark
def test_the_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bids").mkdir()
    Path("auctions").mkdir()
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    bids = {"ts": [moment] * 4, "auction": [1, 1, 2, 3], "price": [5.0, 0.0, 2.5, 1.0]}
    pq.write_table(pa.table({**bids, "note": ["a", "b", None, "d"]}), "bids/1.parquet")
    pq.write_table(pa.table({"id": [1, 2], "seller": ["Ada", None]}), "auctions/1.parquet")
    names: dict[str, Any] = {"spark": request.getfixturevalue("spark")}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    # Spark looks for relative paths where its Java machine was started.
    for folder in ("bids", "auctions"):
        code = code.replace(f'parquet("{folder}")', f'parquet("{tmp_path / folder}")')
    exec(code, names)
    sold = pq.read_table("sold").to_pylist()
    assert sorted((row["price"], row["seller"]) for row in sold) == [(2.5, None), (5.0, "Ada")]
    assert names["run"].last_report.total_results == 2
