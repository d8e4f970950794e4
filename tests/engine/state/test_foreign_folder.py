"""A checkpoint is made in a folder of its own, never among the files of somebody else."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.engine.state.hold import Hold
from penstock.errors import CheckpointError

TEXT = (
    "CREATE STREAM a (t BIGINT) WITH (format='csv', path='{}/in', timestamp='t', unit='s'); "
    "SELECT t FROM a [NOW]"
)


@pytest.fixture
def query(tmp_path: Path) -> ps.ContinuousQuery:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("t\n1\n")
    return ps.sql(TEXT.format(tmp_path))


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")


@pytest.mark.parametrize(
    "names",
    [("notes.txt",), ("deep/notes.txt",), ("reports/q1.txt",), ("manifests/deploy.yaml",)],
)
def test_a_folder_of_others_is_no_checkpoint(
    names: tuple[str, ...], query: ps.ContinuousQuery, tmp_path: Path
) -> None:
    folder = tmp_path / "d"
    put(folder, *names)
    before = sorted(folder.rglob("*"))
    message = f"{folder} holds files that are not a checkpoint's: {names[0].split('/')[0]}"
    for _ in range(2):
        with pytest.raises(CheckpointError, match=message) as caught:
            query.local(sink=ps.noop(), checkpoint=folder)
        assert caught.value.hint == "name another folder with --checkpoint; a new one is made"
    with pytest.raises(CheckpointError, match=message):
        query.check(sink=ps.noop(), checkpoint=folder)
    script = ps.script(query.query.text + "; SELECT t INTO b FROM a [NOW]")
    with pytest.raises(CheckpointError, match=message):
        script.local(sink={"result": ps.noop(), "b": ps.noop()}, checkpoint=folder)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("names", [(), (".hidden", ".git/config"), ("lost+found/x",)])
def test_a_folder_that_is_as_good_as_empty(
    names: tuple[str, ...], query: ps.ContinuousQuery, tmp_path: Path
) -> None:
    put(tmp_path / "d", ".keep", *names)
    query.local(sink=ps.noop(), checkpoint=tmp_path / "d").available_now()


def test_a_start_that_came_no_further_than_its_lock(
    query: ps.ContinuousQuery, tmp_path: Path
) -> None:
    Hold(str(tmp_path / "d")).close()
    put(tmp_path / "d", "reports/run.json", "control/1.json")
    query.check(engine="local", sink=ps.noop(), checkpoint=tmp_path / "d")


def test_files_beside_those_of_a_checkpoint(query: ps.ContinuousQuery, tmp_path: Path) -> None:
    query.local(sink=ps.noop(), checkpoint=tmp_path / "d").available_now()
    put(tmp_path / "d", "notes.txt")
    query.local(sink=ps.noop(), checkpoint=tmp_path / "d").available_now()


@pytest.mark.parametrize(
    "left",
    [
        ("derived/", "queries/"),
        # On Connect it is Spark that begins.
        ("spark/metadata", "spark/offsets/0", "spark/commits/"),
        ("state/a/0/", "transit/", "feed/000000000000.json"),
        ("queries/q/query.json", "queries/q/plans/", "sinks.json"),
    ],
)
def test_what_a_power_cut_leaves_of_a_first_start_is_a_checkpoint(
    left: tuple[str, ...], query: ps.ContinuousQuery, tmp_path: Path
) -> None:
    """Folders may be on the disk when the file is not that says whose they are."""
    folder = tmp_path / "d"
    for name in left:
        place = folder / name
        (place if name.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            place.write_text("{}")
    Hold(str(folder)).close()


def test_a_file_in_the_place_of_a_folder_is_somebody_elses(tmp_path: Path) -> None:
    put(tmp_path / "d", "reports")
    with pytest.raises(CheckpointError, match="not a checkpoint's: reports"):
        Hold(str(tmp_path / "d"))
