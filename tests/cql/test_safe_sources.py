"""A script that is not trusted names files below given folders, and runs nothing of others."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.engine.places.roots import Roots
from penstock.errors import PenstockError, SqlError, UsageError

ASK = "SELECT a.k FROM a [RANGE 1 SECOND];"


def stream(options: str, columns: str = "ts TIMESTAMP, k BIGINT") -> str:
    return f"CREATE STREAM a ({columns}) WITH (timestamp = 'ts', {options}); {ASK}"


def refused(text: str, root: Path) -> SqlError:
    with pytest.raises(SqlError) as caught:
        ps.sql(text, roots=[root])
    assert caught.value.place is not None
    assert caught.value.hint
    return caught.value


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "way").symlink_to(tmp_path / "out")
    return tmp_path / "in"


@pytest.mark.parametrize("path", ["a.csv", "*.csv", "deep/a*.csv", "deep/../a.csv", "deep"])
def test_files_below_a_root_are_read(root: Path, path: str) -> None:
    ps.sql(stream(f"format = 'csv', path = '{root}/{path}'"), roots=["/nowhere", root])


@pytest.mark.parametrize(
    "path",
    [
        "../out/a.csv",
        "way/a.csv",
        "way/*.csv",
        "*/../../out/a.csv",
        "deep*/../../out/*.csv",
        "../inner/a.csv",
        "..",
        "/etc/passwd",
        "s3://bucket/a.csv",
        "file:///etc/passwd",
    ],
)
def test_files_elsewhere_are_refused_at_their_place(root: Path, path: str) -> None:
    whole = path if path.startswith(("/", "s3:", "file:")) else f"{root}/{path}"
    text = stream(f"format = 'csv', path = '{whole}'")
    place = refused(text, root).place
    assert place is not None
    assert text[place.start : place.end].strip("'") == whole


@pytest.mark.parametrize("path", [".", "*", "wa[y]", "w*/*.csv", "**/*.csv", "inner", "in?er/*"])
def test_links_that_a_pattern_or_folder_leads_to_count(root: Path, path: str) -> None:
    (root.parent / "out" / "a.csv").write_text("ts,k\n1,42\n")
    (root / "inner").mkdir()
    (root / "inner" / "b.csv").symlink_to(root.parent / "out" / "a.csv")
    assert "is not in a folder" in str(
        refused(stream(f"format = 'csv', path = '{root}/{path}'"), root)
    )


def test_nothing_is_written_or_read_elsewhere_by_other_options(root: Path) -> None:
    inside = f"format = 'csv', path = '{root}/a.csv'"
    assert "kept" in str(refused(stream(f"{inside}, malformed = 'keep:{root}/../kept'"), root))
    kafka = "format = 'kafka', servers = 'h:9092', topic = 't', value = 'avro'"
    assert "s.avsc" in str(refused(stream(f"{kafka}, schema = '{root}/../out/s.avsc'"), root))
    table = f"CREATE TABLE t (k BIGINT) WITH (format = 'csv', path = '{root}/../t.csv');"
    both = stream(inside).replace(
        ASK, f"{table} SELECT a.k FROM a [RANGE 1 SECOND], t WHERE a.k = t.k;"
    )
    assert "t.csv" in str(refused(both, root))


@pytest.mark.parametrize(
    "option",
    [
        "'kafka.plugin.library.paths' = 'evil'",
        "'kafka.ssl.ca.location' = '/etc/passwd'",
        "'kafka.sasl.kerberos.kinit.cmd' = 'rm'",
        "'kafka.sasl.password' = 'env:HOME'",
        "'kafka.sasl.username' = 'file:/etc/passwd'",
    ],
)
def test_what_the_process_knows_is_not_handed_out(root: Path, option: str) -> None:
    kafka = "format = 'kafka', servers = 'h:9092', topic = 't'"
    refused(stream(f"{kafka}, {option}"), root)
    harmless = "'kafka.security.protocol' = 'SASL_SSL', 'kafka.sasl.password' = 'mine'"
    ps.sql(stream(f"{kafka}, {harmless}"), roots=[root])


def test_readers_of_sparks_and_functions_are_refused(root: Path) -> None:
    assert "delta" in str(refused(stream("format = 'spark:delta', path = 'x'"), root))
    functions = root / "functions.py"
    functions.write_text("raise SystemExit('it ran')")
    with pytest.raises(UsageError, match="functions"):
        ps.sql(stream(f"format = 'csv', path = '{root}/a.csv'"), roots=[root], functions=functions)


def test_without_roots_nothing_is_refused() -> None:
    ps.sql(stream("format = 'csv', path = '/etc/passwd'"))


def test_a_root_of_a_store_has_what_is_below_it() -> None:
    roots = Roots.of(["s3://b/in/"])
    for path in ("s3://b/in/a.csv", "s3://key:word@b/in/*.csv", "s3://b/in/../in/a"):
        assert roots.stray(path) is None
    for path in (
        *("s3://b/inner/a.csv", "s3://b/in/../a.csv", "s3://b/in/%2e%2e/a", "in/a.csv"),
        *("s3://other/in/a.csv", "s3://b/in/a.csv?endpoint_override=other:9000", "gs://b/in/a"),
    ):
        assert roots.stray(path) is not None


def test_dots_behind_a_link_are_looked_at_both_ways(root: Path) -> None:
    """A source is opened without `..`, an Avro schema as the system reads the path."""
    (root / "deep" / "er").mkdir(parents=True)
    (root / "link").symlink_to(root / "deep" / "er")
    for path in ("link/../../out/a.csv", "link/../../../out/a.csv", "way/../a.csv"):
        refused(stream(f"format = 'csv', path = '{root}/{path}'"), root)


def test_paths_with_nul_are_no_way_out(root: Path) -> None:
    with pytest.raises((PenstockError, ValueError)):
        ps.sql(stream(f"format = 'csv', path = '{root}/a\0../../x'"), roots=[root])
