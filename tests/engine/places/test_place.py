"""Places: paths and URIs are taken apart once, and joined, compared and listed in one way."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from threading import current_thread, main_thread

import pytest

from penstock.engine.places import side_by_side
from penstock.engine.places.place import Place, open_new
from penstock.errors import PlaceError


@pytest.mark.parametrize(
    ("written", "child"),
    [
        ("/a/b", "/a/b/_staging"),
        ("/a/b/", "/a/b/_staging"),
        ("/a/100%25/x?y#z", "/a/100%25/x?y#z/_staging"),
        ("file:///a/b", "/a/b/_staging"),
        ("file:/a/b", "/a/b/_staging"),
        ("FILE:///a/b/", "/a/b/_staging"),
        ("file://localhost/a/b", "/a/b/_staging"),
        ("file:///a/with%20blank/%3F", "/a/with blank/?/_staging"),
        ("file:///a/with blank", "/a/with blank/_staging"),
        ("file:///a/b?use_mmap", "file:///a/b/_staging?use_mmap"),
        ("file:///a%20b/?use_mmap", "file:///a%20b/_staging?use_mmap"),
        ("s3://bucket/out?region=eu", "s3://bucket/out/_staging?region=eu"),
        ("s3://bucket/day=1/a%20b/?region=eu", "s3://bucket/day=1/a%20b/_staging?region=eu"),
        ("s3://bucket?region=eu&scheme=http", "s3://bucket/_staging?region=eu&scheme=http"),
        ("s3://key:se%2Fcret@bucket/x", "s3://key:se%2Fcret@bucket/x/_staging"),
        ("hdfs://host:8020/x?replication=2", "hdfs://host:8020/x/_staging?replication=2"),
    ],
)
def test_a_name_is_put_after_the_path_and_before_the_options(written: str, child: str) -> None:
    place = Place.of(written)
    below = place / "_staging"
    assert below.text == child
    assert Place.of(below.text) == below
    assert Place.of(below.text).text == child
    assert Place.of(place.text) == place
    assert (below.parent, below.name) == (place, "_staging")


def test_equal_is_what_means_the_same_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    here: list[str | Path] = [
        str(tmp_path / "a b"),
        "a b",
        "./x/../a b/",
        f"file://{tmp_path}/a%20b",
        f"file:{tmp_path}/a%20b?use_mmap",
        tmp_path / "a b",
    ]
    assert {Place.of(written) for written in here} == {Place.of(tmp_path / "a b")}
    there = ["s3://bucket/x?region=eu", "s3://key:secret@bucket/y/../x/", "s3a://bucket/x"]
    assert len({Place.of(written) for written in there}) == 1
    others = [
        "/bucket/x",
        "s3://bucket/x",
        "s3://other/x",
        "s3://bucket/x?endpoint_override=localhost:9000",
        "gs://bucket/x",
        "abfs://one@account.dfs.core.windows.net/x",
        "abfs://two@account.dfs.core.windows.net/x",
    ]
    assert len({Place.of(written) for written in others}) == len(others)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/../../x", "/x", "a//b"])
def test_no_name_leads_out_of_a_place(name: str) -> None:
    with pytest.raises(PlaceError, match="is not the name of a file below /a"):
        Place.of("/a") / name


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("", "an empty path"),
        ("file://host/a", "host is no folder of this machine"),
        ("file:///a#b", "cannot tell what # means"),
        ("file:///%FF", "not UTF-8"),
        ("s3://KEY:SEC/RET@bucket/x", r"the host in s3://KEY:\*\*\*"),
        ("s3://KEY:SEC#RET@bucket/x", r"the host in s3://KEY:\*\*\*"),
    ],
)
def test_what_cannot_be_understood_is_refused(written: str, wrong: str) -> None:
    with pytest.raises(PlaceError, match=wrong) as caught:
        Place.of(written)
    assert "SEC" not in str(caught.value)


def test_secrets_are_not_printed() -> None:
    place = Place.of("nosuch://KEY:SECRET@bucket/x?client_secret=SECRET&region=eu&sig=SECRET")
    assert str(place) == "nosuch://KEY:***@bucket/x?client_secret=***&region=eu&sig=***"
    assert "SECRET" not in repr(place)
    assert place.text.count("SECRET") == 3
    with pytest.raises(PlaceError, match="cannot reach nosuch") as caught:
        place.info()
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "hadoop"),
    [
        ("/a/with blank", "file:///a/with blank"),
        ("file:///a/with%20blank?use_mmap", "file:///a/with blank"),
        ("s3://key:secret@bucket/x?region=eu", "s3a://bucket/x"),
        ("abfs://c:pass@acc.dfs.core.windows.net/x?y=z", "abfs://c@acc.dfs.core.windows.net/x"),
        ("hdfs://host:8020/x?replication=2", "hdfs://host:8020/x"),
    ],
)
def test_spark_gets_no_options_and_no_secrets(written: str, hadoop: str) -> None:
    assert Place.of(written).for_spark == hadoop


def test_a_place_travels_without_its_file_system(tmp_path: Path) -> None:
    place = Place.of(f"file://{tmp_path}?use_mmap")
    assert not list(place.files())
    again = pickle.loads(pickle.dumps(place))
    assert (again, again.text) == (place, place.text)
    assert b"pyarrow" not in pickle.dumps(place)


@pytest.mark.parametrize("root", ["{folder}", "file://{folder}?use_mmap", "mock:///a%20b?x=y"])
def test_files_are_listed_by_their_names_below(root: str, tmp_path: Path) -> None:
    place = Place.of(root.format(folder=tmp_path)) / "in"
    for name in ("b", "deep/er/ä %41"):
        with open_new(place / name) as file:
            file.write(b"four")
    assert sorted((name, info.size) for name, info in place.files(recursive=True)) == [
        ("b", 4),
        ("deep/er/ä %41", 4),
    ]
    assert [name for name, _ in place.files()] == ["b"]
    place.delete(["b", "gone"])
    assert [name for name, _ in place.files(recursive=True)] == ["deep/er/ä %41"]
    assert not list((place / "nowhere").files())


@pytest.mark.parametrize("quick", [0.0, 1e9], ids=["by threads", "here"])
def test_many_files_are_deleted_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: float
) -> None:
    """Those that are gone are no error; a name that leads elsewhere is, whoever meets it."""
    monkeypatch.setattr(side_by_side, "_QUICK", quick)
    for number in range(300):
        (tmp_path / str(number)).touch()
    folder = Place.of(str(tmp_path))
    folder.delete([str(number) for number in range(0, 400, 2)])
    assert sorted(int(path.name) for path in tmp_path.iterdir()) == list(range(1, 300, 2))
    with pytest.raises(PlaceError, match="not the name of a file below"):
        folder.delete([*(str(number) for number in range(200)), "../other"])


@pytest.mark.parametrize("quick", [0.0, 1e9], ids=["by threads", "here"])
def test_threads_are_for_files_that_take_long(
    monkeypatch: pytest.MonkeyPatch, quick: float
) -> None:
    monkeypatch.setattr(side_by_side, "_QUICK", quick)
    done: list[tuple[bool, int]] = []

    def work(items: Sequence[int]) -> None:
        done.extend((current_thread() is main_thread(), item) for item in items)

    side_by_side.side_by_side(work, range(1000))
    assert sorted(item for _, item in done) == list(range(1000))
    assert sum(is_here for is_here, _ in done) == (64 if quick == 0.0 else 1000)
