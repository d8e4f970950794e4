"""The page on DataFrames: its code runs as it stands, and its scripts are scripts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyspark.sql import SparkSession

import penstock as ps
from support.paths import ROOT

PAGE = (ROOT / "docs" / "dataframes.md").read_text(encoding="utf-8")


BIDS = {
    "ts": [datetime(2026, 1, 1, tzinfo=UTC)] * 4,
    "auction": [1, 1, 2, 3],
    "price": [5.0, 0.0, 2.5, 1.0],
}
AUCTIONS = {"id": [1, 2], "seller": ["Ada", None]}


@pytest.mark.spark
def test_the_script_reads_what_it_says(spark: SparkSession, tmp_path: Path) -> None:
    (script,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    data = tmp_path / "data"
    deep = data / "bids" / "today"
    deep.mkdir(parents=True)
    (data / "auctions").mkdir()
    orc.write_table(pa.table(BIDS), deep / "1.orc")
    pq.write_table(pa.table(AUCTIONS), data / "auctions" / "1.parquet")
    query = ps.sql(script.replace("'data/", f"'{data}/"))
    with query.start(
        spark, sink=ps.parquet(tmp_path / "out"), checkpoint=tmp_path / "c", available_now=True
    ) as run:
        run.await_termination()
    sold = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted((row["price"], row["seller"]) for row in sold) == [
        (0.0, "Ada"),
        (2.5, None),
        (5.0, "Ada"),
    ]


@pytest.mark.spark
def test_the_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bids").mkdir()
    Path("auctions").mkdir()
    pq.write_table(pa.table({**BIDS, "note": ["a", "b", None, "d"]}), "bids/1.parquet")
    pq.write_table(pa.table(AUCTIONS), "auctions/1.parquet")
    names: dict[str, Any] = {"spark": request.getfixturevalue("spark")}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    # Spark looks for relative paths where its Java machine was started.
    for folder in ("bids", "auctions"):
        code = code.replace(f'parquet("{folder}")', f'parquet("{tmp_path / folder}")')
    exec(code, names)
    sold = pq.read_table("sold").to_pylist()
    assert sorted((row["price"], row["seller"]) for row in sold) == [(2.5, None), (5.0, "Ada")]
    assert names["run"].last_report.total_results == 2
