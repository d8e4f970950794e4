"""The pages of the tutorial and how-to: a reader who does all that they say gets what they show."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from support.pages.page_blocks import blocks_of
from support.pages.reader import Reader, is_shown
from support.paths import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = ROOT / "docs"
ON_SPARK = ("how-to/from-spark.md",)
# Read where there is a store: tests/pages/test_object_stores_page.py.
ON_A_STORE = ("how-to/object-stores.md",)
HOW_TO = [f"how-to/{path.name}" for path in (DOCS / "how-to").iterdir()]
PAGES = ("second-query.md", "concepts.md", *HOW_TO)


@pytest.mark.parametrize("page", sorted(set(PAGES) - set(ON_SPARK) - set(ON_A_STORE)))
def test_a_reader_gets_what_the_page_shows(page: str, tmp_path: Path) -> None:
    reader = Reader(DOCS / page, tmp_path)
    assert reader.blocks
    reader.follow()


@pytest.mark.spark
@pytest.mark.parametrize("page", ON_SPARK)
def test_a_reader_with_spark_gets_what_the_page_shows(
    page: str, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Reader(DOCS / page, tmp_path, {"spark": spark}).follow()


MADE = """
CREATE STREAM tick (ts TIMESTAMP, n BIGINT) WITH (
  format = 'synthetic', timestamp = 'ts', rate = 10, rows = 7, values = 'n: sequence()');
SELECT n FROM tick [NOW];
"""


@pytest.mark.spark
def test_the_program_for_a_cluster_runs(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    Reader(DOCS / "how-to/cluster.md", tmp_path).follow()
    (tmp_path / "query.cql").write_text(MADE)
    monkeypatch.chdir(tmp_path)
    given = ["job.py", "query.cql", str(tmp_path / "state"), str(tmp_path / "results")]
    monkeypatch.setattr(sys, "argv", given)
    runpy.run_path("job.py")
    assert pq.read_table(tmp_path / "results").num_rows == 7


@pytest.mark.slow
def test_flink_gives_the_same_as_the_page_on_it_shows(tmp_path: Path) -> None:
    python = os.environ.get("PENSTOCK_FLINK_PYTHON")
    if python is None:
        pytest.skip("PENSTOCK_FLINK_PYTHON names no interpreter that has apache-flink")
    Reader(DOCS / "how-to/from-flink.md", tmp_path).follow()
    done = subprocess.run([python, "-c", FLINK], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "paid.jsonl").read_text().splitlines()
    assert sorted(json.loads(done.stdout.splitlines()[-1])) == sorted(
        list(json.loads(line).values()) for line in lines
    )


FLINK = """
import json
from pyflink.table import EnvironmentSettings, TableEnvironment
environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
with open("flink.sql") as file:
    *made, asked = (each for each in file.read().split(";\\n") if each.strip())
for statement in made:
    environment.execute_sql(statement)
print(json.dumps([list(row) for row in environment.execute_sql(asked).collect()]))
"""


def test_what_is_not_printed_is_not_shown() -> None:
    said = "one\ntwo\nthree\n"
    assert is_shown("one\n…\nthree\n", said)
    assert not is_shown("three\n…\none\n", said)
    assert not is_shown("four\n", said)


def test_a_reader_stops_at_what_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for block in (
        "```bash\npenstock check nowhere.cql\n```",
        "```sh\npenstock run x.cql --no-such-option\n```",
        "```sql\nSELECT a FROM nothing [NOW]\n```",
        "```bash\necho one\n```\n```text\ntwo\n```",
        "```python\nassert False\n```",
        "```fortran\nEND\n```",
    ):
        page.write_text(f"{block}\n")
        assert blocks_of(page)
        with pytest.raises(BaseException):  # noqa: B017, PT011
            Reader(page, tmp_path).follow()
