"""Real streams and Java: where they are, and what is said where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engine.spark.java import find_java
from penstock.experiments.setting.java import NO_JAVA, has_java
from penstock.experiments.setting.real_data import VARIABLE, missing, real_data


def test_real_streams_are_found_where_the_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert real_data("road/speed.csv.gz") is None
    assert "road/speed.csv.gz is not there" in missing("road/speed.csv.gz")
    (tmp_path / "road").mkdir()
    (tmp_path / "road" / "speed.csv.gz").write_bytes(b"")
    assert real_data("road/speed.csv.gz") == tmp_path / "road" / "speed.csv.gz"


def test_java_is_that_of_the_engine() -> None:
    assert has_java() == (find_java() is not None)
    assert "install Java" in NO_JAVA
