"""Names of streams and aliases, whatever is in them, stay inside the checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.cql import parse
from penstock.engine.places.file_names import as_file_name, is_own
from penstock.engine.places.place import Place as At
from penstock.engine.reports.report import Report
from penstock.engine.sources.listing.file_log import FileLog
from penstock.engine.state.store import Store
from penstock.query import Query
from support.engines.runs import Place, Runner, run_local, run_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOSTILE = [
    "../../x",
    "a/b",
    ".",
    "..",
    "con:",
    "ünï 漢",
    "n" * 300,
    "漢" * 90,
    "/etc",
    "a'b\"c\\",
    "%2e%2e",
    "a@0",
    "new\nline",
    "a?b*[c]",
    "~",
]


@pytest.mark.parametrize("name", ["bid", "Bid_2", "_x", "a-b", "a@0", "a+b"])
def test_plain_names_stay_as_they_are(name: str) -> None:
    assert as_file_name(name) == name


def test_other_names_become_one_file_name_each() -> None:
    names = [*HOSTILE, "", "n" * 301, "n" * 100, "N" * 300, "a%2Fb", "a%2fb", "A/B"]
    # What a long name becomes is no short name's.
    names.append(as_file_name("n" * 300))
    made = [as_file_name(name) for name in names]
    assert len(set(made)) == len(names)
    for text in made:
        assert 0 < len(text.encode()) <= 200
        assert text.isascii()
        assert not {"/", ".", "\\", "\n", "*", "?"} & set(text)


def test_only_names_that_penstock_gives_are_its_own() -> None:
    unique = "0123456789abcdef" * 2
    for name in (
        f"state/a@0/1/{unique}.arrow",
        f"state/%2E%2E/ring/{unique}.arrow",
        f"transit/7/{unique}",
        "manifests/000000000001.json",
        f"manifests/.000000000001.json.{unique}",
        "sources/a/000000000000-000000000064.json",
        "spark/offsets/.0.01234567-89ab-cdef-0123-456789abcdef.tmp",
        "spark/offsets/0",
        "spark/commits/.12.crc",
        "spark/metadata",
    ):
        assert is_own(name), name
    for name in (
        "state/report.arrow",
        f"state/{unique}.arrow",
        f"states/a/{unique}.arrow",
        "transit/7/notes",
        "manifests/2024.json",
        "manifests/.gitignore",
        "feed/rss.json",
        "sources/a/list.json",
        "spark/offsets/0.mine",
        "spark/offsets/mine.tmp",
        "query.json",
    ):
        assert not is_own(name), name


def sides(folder: Path, name: str, window: str = "RANGE 1 HOUR") -> Query:
    """A join of two streams, one of them called by a name, also as an alias."""
    quoted = '"' + name.replace('"', '""') + '"'
    streams = "".join(
        f"CREATE STREAM {stream} (t BIGINT, k BIGINT) "
        f"WITH (format='csv', path='{folder}/{path}', timestamp='t', unit='s', max_files=1);\n"
        for stream, path in ((quoted, "l"), ("r", "r"))
    )
    return parse(
        f"{streams} SELECT {quoted}.k AS k FROM {quoted} [{window}] AS {quoted}, r [{window}] AS r "
        f"WHERE {quoted}.k = r.k"
    )


def write(folder: Path, number: int) -> None:
    for side in ("l", "r"):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / f"{number}.csv").write_text(f"t,k\n{number},1\n{number},{number}\n")


def files_in(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def check(folder: Path, name: str, run: Runner, window: str = "RANGE 1 HOUR") -> None:
    """Run, run again with more input, and look for files outside the checkpoint."""
    base = folder / "some" / "where" / "deep"
    base.mkdir(parents=True)
    place = Place(base, "jsonl")
    query = sides(base, name, window)
    write(base, 2)
    before = files_in(folder)
    run(query, place, drain=False)
    write(base, 3)
    run(query, place)
    assert sorted(place.results(query)) == [(1,)] * 4 + [(2,), (3,)]
    made = {path.parent.relative_to("some/where/deep") for path in files_in(folder) - before}
    outside = {path for path in made if path.parts[:1] not in ((), ("l",), ("r",))}
    assert {path.parts[0] for path in outside} == {"checkpoint"}


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_run_and_go_on(name: str, tmp_path: Path) -> None:
    check(tmp_path, name, run_local)


@pytest.mark.parametrize("name", ["../../x", ".", "n" * 300], ids=["up", "dot", "long"])
def test_hostile_names_with_rows_windows(name: str, tmp_path: Path) -> None:
    check(tmp_path, name, run_local, "ROWS 9")


def test_a_log_of_files_under_an_unencoded_name_is_found(tmp_path: Path) -> None:
    """So earlier versions kept it."""
    place, query = Place(tmp_path, "jsonl"), sides(tmp_path, "größer als.")
    write(tmp_path, 2)
    run_local(query, place, drain=False)
    logs = place.checkpoint / "sources"
    (logs / as_file_name("größer als.")).rename(logs / "größer als.")
    (tmp_path / "l" / "2.csv").rename(tmp_path / "l" / "_2.csv")
    write(tmp_path, 3)
    run_local(query, place)
    assert sorted(place.results(query)) == [(1,)] * 4 + [(2,), (3,)]


@pytest.mark.spark
def test_hostile_names_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    def run(query: Query, place: Place, **more: Any) -> list[Report]:
        return run_spark(spark, query, place, **more)

    check(tmp_path, "../../x", run)


def test_a_name_that_another_is_encoded_as_has_a_log_of_its_own(tmp_path: Path) -> None:
    """The folder of `a/b` is called `a%2Fb`; a stream of that name has another one."""
    store = Store(At.of(tmp_path))
    for name in ("a/b", "a%2Fb", "nul\0", "a%252Fb"):
        folder = tmp_path / "in" / as_file_name(name)
        folder.mkdir(parents=True)
        (folder / "1.csv").write_text("ts,k\n1,2\n")
        options = f"format = 'csv', path = '{folder}', timestamp = 'ts', unit = 's'"
        quoted = '"' + name + '"'
        stream = f"CREATE STREAM {quoted} (ts BIGINT, k INT) WITH ({options})"
        source = parse(f"{stream}; SELECT * FROM {quoted} [NOW]").inputs[0].source
        log = FileLog(source, store)
        assert not log.files, name
        log.find()
        assert len(FileLog(source, store).files) == 1, name
