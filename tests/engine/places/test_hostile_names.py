"""Names with NUL, of hundreds of characters, or that are no text: encoded, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.engine.places.place import Place
from penstock.errors import PenstockError, PlaceError

LONG = "x" * 300


def query(folder: Path, *, name: str = "a", path: str | None = None, more: str = "") -> Any:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "0.csv").write_text("t,k\n1,1\n2,1\n")
    return ps.sql(
        f"CREATE STREAM \"{name}\" (t BIGINT, k INT) WITH (format='csv', timestamp='t', unit='s', "
        f"path='{path or folder / 'in'}'{more}); SELECT t FROM \"{name}\" [RANGE 3 s]"
    )


@pytest.mark.parametrize("name", ["a\0b", LONG, "漢" * 300, "../..", "a/b\0" * 100])
def test_streams_may_have_any_name(name: str, tmp_path: Path) -> None:
    run = query(tmp_path, name=name).local(
        sink=f"parquet:{tmp_path}/out", checkpoint=str(tmp_path / "checkpoint")
    )
    run.available_now()
    (part,) = (tmp_path / "out").glob("part-*.parquet")
    assert sorted(pq.read_table(part).column("t").to_pylist()) == [1, 2]


@pytest.mark.parametrize("bad", ["a\0b", LONG, "a\udc80", f"{LONG}/x"])
@pytest.mark.parametrize("what", ["parquet", "jsonl", "checkpoint", "source", "malformed"])
def test_places_that_cannot_be_are_refused_by_name(what: str, bad: str, tmp_path: Path) -> None:
    bad = f"{tmp_path}/{bad}"
    places = {"sink": f"parquet:{tmp_path}/out", "checkpoint": str(tmp_path / "checkpoint")}
    if what in ("parquet", "jsonl"):
        places["sink"] = f"{what}:{bad}"
    if what == "checkpoint":
        places["checkpoint"] = bad
    path = bad if what == "source" else None
    more = f", malformed='keep:{bad}'" if what == "malformed" else ""
    with pytest.raises(PenstockError) as caught:
        query(tmp_path, path=path, more=more).local(**places).available_now()
    told = caught.value.message
    assert repr(bad)[1:40] in told or "U+DC80 is no character" in told
    assert caught.value.hint
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("length", [230, 255])
def test_a_file_may_have_as_long_a_name_as_there_is(length: int, tmp_path: Path) -> None:
    """The folder beside it for what is staged has a name that is longer."""
    file = tmp_path / ("r" * length)
    run = query(tmp_path).local(sink=f"jsonl:{file}", checkpoint=str(tmp_path / "checkpoint"))
    run.available_now()
    assert sorted(file.read_text().splitlines()) == ['{"t":1}', '{"t":2}']
    left = {path.name for path in tmp_path.iterdir()} - {"in", "checkpoint", file.name}
    # What says that it is ours.
    assert [name[0] + name[-9:] for name in left] == ["..penstock"]


def test_a_password_is_not_told() -> None:
    for text in ("s3://me:secret@bucket/a\0b", "s3://me:secret@bucket/a%00b"):
        with pytest.raises(PlaceError, match="has a NUL character") as caught:
            Place.of(text)
        assert "secret" not in str(caught.value)
