"""Rows and files that cannot be read: filled, refused, dropped and counted, or kept, each once."""

from __future__ import annotations

import gzip
import json
import logging
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.api import sql
from penstock.engine.expressions.arrow_types import schema_of
from penstock.engine.reports.report import Report
from penstock.engine.sinks.sink import parquet
from penstock.engine.sources import lines
from penstock.engine.sources.kept_rows import MOST_TEXT
from penstock.engine.sources.read import Block, read_file
from penstock.errors import SinkError, SourceError
from penstock.lab.experiment import read_all
from penstock.query import DataType, Field, Source
from penstock.sampling.analyze import analyze
from support.engines.crashes import Crash, Run, exit_code
from support.engines.runs import Place, Runner, first_files_only, run_local
from support.streams.blocks import rows

T = DataType
FIELDS = (Field("ts", T.BIGINT), Field("k", T.INT), Field("at", T.TIMESTAMP), Field("n", T.STRING))
NAMES = [field.name for field in FIELDS]
WHOLE = {"ts": [1, 2], "k": [1, 2], "at": pa.array([0, 1], pa.timestamp("us")), "n": ["a", "b"]}


def source(format_: Any, **more: Any) -> Source:
    return Source("s", FIELDS, format_, **{"timestamp": "ts", "unit": "us", **more})


def put(path: Path, content: str | bytes | dict[str, Any]) -> str:
    if isinstance(content, dict):
        pq.write_table(pa.table(content), path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def read(stream: Source, path: str, *columns: str, hints: tuple[str, ...] = ()) -> list[Block]:
    return list(read_file(stream, path, columns or NAMES, hints))


# ── missing columns ───────────────────────────────────────────────────────────────────────────────

LACKING = [
    ("parquet", {"TS": [1, 2], "k": [7, 8]}, {}),
    ("csv", "k,other,ts\n7,x,1\n8,y,2\n", {}),
    ("csv", "1,7\n2,8\n", {"options": (("header", False),)}),
    ("json", '{"ts": 1, "k": 7, "o": {"n": "deep"}}\n{"ts": 2, "k": 8}\n', {}),
]


@pytest.mark.parametrize(("format_", "content", "more"), LACKING)
def test_what_a_file_does_not_have_is_null_if_it_is_to_be_filled(
    format_: str, content: Any, more: dict[str, Any], tmp_path: Path
) -> None:
    stream = source(format_, columns="fill", **more)
    blocks = read(stream, put(tmp_path / "file", content))
    assert blocks[0].batch.schema == schema_of(stream.fields)
    assert rows(blocks) == [(1, 7, None, None), (2, 8, None, None)]
    # A malformed row takes the other way through the readers of text.
    if isinstance(content, str):
        bad = content.replace("8", '"eight"')
        blocks = read(replace(stream, malformed="drop"), put(tmp_path / "file", bad))
        assert (rows(blocks), blocks[0].malformed) == ([(1, 7, None, None)], 1)


@pytest.mark.parametrize(("format_", "content", "more"), LACKING)
def test_a_table_may_lack_all_that_is_asked_for(
    format_: str, content: Any, more: dict[str, Any], tmp_path: Path
) -> None:
    table = source(format_, columns="fill", timestamp=None, is_table=True, **more)
    assert rows(read(table, put(tmp_path / "file", content), "n")) == [(None,), (None,)]


@pytest.mark.parametrize(
    ("format_", "content"), [("parquet", {"k": [1], "n": ["a"]}), ("csv", "k,n\n1,a\n")]
)
def test_an_event_time_is_never_filled(format_: str, content: Any, tmp_path: Path) -> None:
    path = put(tmp_path / "file", content)
    with pytest.raises(SourceError, match=f"{path} has no column ts, which s declares") as caught:
        read(source(format_, columns="fill"), path)
    assert "an event time cannot be NULL" in str(caught.value)
    (block,) = read(source(format_, columns="fill", malformed="drop"), path)
    assert block.unreadable == caught.value.message


@pytest.mark.parametrize("content", [{"ts": [1], "k": [7]}, {"ts": [1], "k": [7], "n": [[1]]}])
def test_what_only_a_plan_looks_at_decides_nothing(content: Any, tmp_path: Path) -> None:
    """Whatever the plan, the same rows are read."""
    path = put(tmp_path / "file", content)
    assert rows(read(source("parquet"), path, "ts", "k", hints=("n",))) == [(1, 7, None)]


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def whole(**more: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({**WHOLE, **more}), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def twice() -> bytes:
    sink = pa.BufferOutputStream()
    columns = [*WHOLE.values(), [3, 4]]
    table = pa.Table.from_arrays([pa.array(column) for column in columns], [*WHOLE, "k"])
    pq.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


# Without a time in it, so that the test has the same name in every process.
ZIPPED = gzip.compress(b"ts,k,at,n\n" + b"1,2,,a\n" * 1000, mtime=0)
NESTED = b'{"ts": 1, "k": 2, "at": null, "items": [{"m": 0}, {"n": "a"}]}\n{"ts": 2}\n'
FAULTS = [
    ("a.parquet", b"", "file size is 0 bytes", "Move files there when they are whole"),
    ("a.parquet", b"PAR1 but no more", "cannot read", "still being written"),
    ("a.parquet", whole()[:-200], "cannot read", "still being written"),
    ("a.parquet", whole(k=["x", "y"]), "column k of", "declare k in s"),
    ("a.parquet", twice(), "has several columns named k", "rename all but one"),
    ("a.csv.gz", ZIPPED[:-30], "cannot read", "damaged"),
    ("a.csv.gz", b"not compressed", "cannot read", "damaged"),
    ("a.csv", b"\0\1\2" * 99_999, "cannot read", "of another format"),
    ("a.csv", b"ts,k,n\n1,2,3\n", "has no column at, which s declares", "columns = 'fill'"),
    ("a.csv", b"\n1,2,3\n", "has no column ts, which s declares", "first line is empty"),
    ("a.json", NESTED, "has n, which s declares, only as items[0].n", ".n = .items[0].n"),
]


@pytest.mark.parametrize(("name", "content", "reason", "hint"), FAULTS)
def test_a_file_that_cannot_be_read_is_treated_like_a_malformed_row(
    name: str, content: Any, reason: str, hint: str, tmp_path: Path
) -> None:
    format_, path = name.split(".")[1], put(tmp_path / name, content)
    with pytest.raises(SourceError) as caught:
        read(source(format_), path)
    assert reason in caught.value.message
    assert path in caught.value.message
    assert hint in str(caught.value.hint)
    assert "malformed = 'drop' skips such files" in str(caught.value.hint)
    (block,) = read(source(format_, malformed="drop"), path)
    assert (len(block.batch), block.malformed, block.kept) == (0, 0, b"")
    assert block.unreadable == caught.value.message
    (block,) = read(source(format_, malformed="keep:bad"), path)
    assert json.loads(block.kept) == {"stream": "s", "file": path, "reason": block.unreadable}


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_an_empty_file_of_lines_has_no_rows(name: str, tmp_path: Path) -> None:
    assert read(source(name.split(".")[1]), put(tmp_path / name, "")) == []


def test_what_comes_before_the_damage_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "PIECE_BYTES", 512)
    path = put(tmp_path / "a.csv.gz", ZIPPED[:-8])
    blocks = read(source("csv", malformed="drop"), path)
    assert set(rows(blocks)) == {(1, 2, None, "a")}
    assert [block.unreadable is None for block in blocks] == [True] * (len(blocks) - 1) + [False]


@pytest.mark.parametrize("format_", ["csv", "json", "parquet"])
def test_what_cannot_be_fetched_is_not_dropped(format_: str, tmp_path: Path) -> None:
    """A folder stands for a disk that fails: the rows are there, and must not be lost."""
    with pytest.raises(SourceError, match=f"cannot read {tmp_path}: ") as caught:
        read(source(format_, malformed="drop"), str(tmp_path))
    assert "nothing is lost" in str(caught.value)


def test_a_member_that_is_null_or_missing_is_not_nested(tmp_path: Path) -> None:
    text = '{"ts": 1, "n": null, "o": {"n": 1, "k": 1}}\n{"ts": 2, "k": 3}\n'
    assert rows(read(source("json"), put(tmp_path / "a", text), "ts", "k", "n")) == [
        (1, None, None),
        (2, 3, None),
    ]


@pytest.mark.parametrize("lines_", ["null", "null\n{}\n", " null\n", "{}\nnull\n{}", "\ufeffnull"])
def test_a_row_that_is_null_is_no_object(lines_: str, tmp_path: Path) -> None:
    """Arrow reads a first one by writing to memory that is not there."""
    given = lines_.replace("{}", '{"ts": 1, "k": 2, "at": null, "n": "null"}')
    path = put(tmp_path / "s.json", given)
    with pytest.raises(SourceError, match="null"):
        rows(read(source("json"), path))
    assert len(rows(read(source("json", malformed="drop"), path))) == lines_.count("{}")


def test_times_out_of_range_are_malformed(tmp_path: Path) -> None:
    stream = source("parquet", timestamp="at", unit=None, malformed="keep:bad")
    far = pa.array([(1 << 62) + 1, 1], pa.timestamp("us"))
    (block,) = read(stream, put(tmp_path / "a", {**WHOLE, "at": far}))
    assert (len(block.batch), block.malformed) == (1, 1)
    assert json.loads(block.kept)["reason"].endswith("in column at is not a TIMESTAMP")


# ── rows that are kept ────────────────────────────────────────────────────────────────────────────


def kept(blocks: list[Block]) -> list[dict[str, Any]]:
    return [json.loads(line) for block in blocks for line in block.kept.splitlines()]


def test_a_kept_row_of_csv_has_its_line_and_its_text(tmp_path: Path) -> None:
    long = "x" * (MOST_TEXT + 5)
    text = f'ts,k,at,n\n1,1,,a\n\n2,"1\n2",,a\n3,3\n4,4,,{long},\n5,5,,"c"\n6,\udcff,,a\n'
    path = put(tmp_path / "a.csv", text.encode(errors="surrogateescape"))
    blocks = read(source("csv", malformed="keep:bad"), path)
    assert [row[0] for row in rows(blocks)] == [1, 5]
    common = {"stream": "s", "file": path}
    assert kept(blocks) == [
        common | {"line": 4, "reason": "'1\n2' in column k is not an INT", "text": '2,"1\n2",,a'},
        common | {"line": 6, "reason": "2 fields instead of 4: '3,3'", "text": "3,3"},
        common
        | {
            "line": 7,
            "reason": f"5 fields instead of 4: '4,4,,{'x' * 75}…'",
            "text": f"4,4,,{long}"[:MOST_TEXT],
            "characters": len(long) + 6,
        },
        common | {"line": 9, "reason": "'\ufffd' in column k is not an INT", "text": "6,\\xff,,a"},
    ]


def test_a_kept_row_of_json_and_of_parquet(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", '{"ts": 1}\n\n{"ts": 2, "k": {"deep": 1}}\n{"k": 1}\n')
    found = kept(read(source("json", malformed="keep:bad"), path))
    assert [(row["line"], row["reason"]) for row in found] == [
        (3, "'{\"deep\": 1}' in column k is not an INT"),
        (4, "the event time ts is NULL"),
    ]
    assert found[0]["text"] == '{"ts": 2, "k": {"deep": 1}}'
    path = put(tmp_path / "a.parquet", {**WHOLE, "k": [1, 1 << 40]})
    (row,) = kept(read(source("parquet", malformed="keep:bad"), path))
    assert (row["row"], row["reason"]) == (2, "'1099511627776' in column k is not an INT")
    assert json.loads(row["text"])["n"] == "b"


def test_a_row_may_be_wrong_in_two_ways(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"ts,k,at,n\n1,1,,a\n2,\xff\n3,3,,\xef\xbf\xbd\n4,4,,\xe9\n")
    blocks = read(source("csv", malformed="keep:bad"), path)
    assert rows(blocks) == [(1, 1, None, "a"), (3, 3, None, "\ufffd")]
    assert [(row["line"], row["reason"], row["text"]) for row in kept(blocks)] == [
        (3, "2 fields instead of 4: '2,\ufffd'", "2,\\xff"),
        (5, "'\ufffd' in column n is not a STRING", "4,4,,\\xe9"),
    ]


def test_very_long_fields_have_a_place_too(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", f"ts,k,at,n\n1,1,,{'x' * 200_000}\n2,two,,b\n")
    (row,) = kept(read(source("csv", malformed="keep:bad"), path))
    assert (row["line"], row["text"]) == (3, "2,two,,b")


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT, n STRING)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1, malformed='{a}');
CREATE STREAM b (ts BIGINT, k INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='s', max_files=1, malformed='{b}',
        columns='fill');
CREATE TABLE t (k INT, name STRING) WITH (format='json', path='{folder}/t', malformed='{b}');
SELECT a.ts AS a, b.ts AS b, b.x AS x, t.name AS name
FROM a [RANGE 100 SECONDS], b [RANGE 100 SECONDS], t WHERE a.k = b.k AND a.k = t.k
"""


def write(folder: Path) -> None:
    """Three files a stream: of the rows of a three are malformed and two late, b has a bad file."""
    for name in "abt":
        (folder / name).mkdir(parents=True)
    put(folder / "a" / "1.csv", "ts,k,n\n1,1,x\n5,one,x\n5\n6,2,x\n")
    put(folder / "a" / "2.csv", "ts,k,n\n5,1,x\n4,1,x\n7,1,x\n")
    put(folder / "a" / "3.csv", "ts,k,n\n8,2,x\n8,two,x\n")
    put(folder / "b" / "1.parquet", {"ts": [1, 2], "k": [1, 1 << 40]})
    put(folder / "b" / "2.parquet", b"")
    put(folder / "b" / "3.parquet", {"ts": [3], "k": [2], "x": [0.5]})
    put(folder / "t" / "t.json", '{"k": 1, "name": "one"}\n{"k": 2, "name": {}}\n{"k": 2}\n')


RESULTS = {(1, 1, None, "one"), (6, 3, 0.5, None), (7, 1, None, "one"), (8, 3, 0.5, None)}
KEPT_A = [("a", "1.csv", 3), ("a", "1.csv", 4), ("a", "3.csv", 3)]
KEPT_B = [("b", "1.parquet", 2), ("b", "2.parquet", None)]
KEPT_T = [("t", "t.json", 2)]


def script(folder: Path, a: str = "drop", b: str = "drop") -> str:
    return SCRIPT.format(folder=folder, a=a, b=b)


def rows_in(path: Path) -> list[tuple[str, str, int | None]]:
    """The stream, the file and the place of each row that was kept."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [(r["stream"], Path(r["file"]).name, r.get("line", r.get("row"))) for r in found]


def totals(reports: list[Report], name: str) -> dict[str, int]:
    counts = ("read", "late", "malformed", "unreadable")
    return {each: sum(getattr(r, each).get(name, 0) for r in reports) for each in counts}


@pytest.mark.classic
def test_late_malformed_and_unreadable_are_told_apart_and_add_up(
    run: Runner, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path)
    bad = tmp_path / "bad" / "rows.jsonl"
    query = sql(script(tmp_path, f"keep:{bad}", f"keep:{bad}")).query
    place = Place(tmp_path)
    with caplog.at_level(logging.WARNING):
        reports = run(query, place)
    assert set(place.results(query)) == RESULTS
    assert totals(reports, "a") == {"read": 9, "late": 2, "malformed": 3, "unreadable": 0}
    assert totals(reports, "b") == {"read": 3, "late": 0, "malformed": 1, "unreadable": 1}
    assert totals(reports, "t") == {"read": 3, "late": 0, "malformed": 1, "unreadable": 0}
    named = [record.message for record in caplog.records if "dropped a file" in record.message]
    assert len(named) == 1
    assert str(tmp_path / "b" / "2.parquet") in named[0]
    # Batches have a file of each stream; the table comes with the first.
    assert rows_in(bad) == [*KEPT_A[:2], KEPT_B[0], *KEPT_T, KEPT_B[1], KEPT_A[2]]
    assert not list(place.checkpoint.glob("malformed/*"))


def test_files_of_their_own_and_a_later_run(tmp_path: Path) -> None:
    write(tmp_path)
    one, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    query = sql(script(tmp_path, f"keep:{one}", f"keep:{other}")).query
    place = Place(tmp_path)
    with first_files_only(query, 1):
        run_local(query, place, drain=False)
    assert rows_in(one) == KEPT_A[:2]
    run_local(query, place)
    assert (rows_in(one), rows_in(other)) == (KEPT_A, [KEPT_B[0], *KEPT_T, KEPT_B[1]])


def test_a_file_of_kept_rows_belongs_to_one_checkpoint(tmp_path: Path) -> None:
    write(tmp_path)
    bad = tmp_path / "bad.jsonl"
    query = sql(script(tmp_path, f"keep:{bad}")).query
    run_local(query, Place(tmp_path / "1"))
    before = bad.read_bytes()
    with pytest.raises(SinkError, match=f"{bad} already holds malformed rows"):
        run_local(query, Place(tmp_path / "2"))
    assert bad.read_bytes() == before
    run_local(query, Place(tmp_path / "2"), overwrite=True)
    assert bad.read_bytes() == before
    bad.write_text('{"notes": "mine"}\n')
    for overwrite in (False, True):
        with pytest.raises(SinkError, match="holds data that Penstock did not write"):
            run_local(query, Place(tmp_path / "3"), overwrite=overwrite)
    assert bad.read_text() == '{"notes": "mine"}\n'


def test_a_changed_file_of_kept_rows_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path)
    bad, other = tmp_path / "bad.jsonl", tmp_path / "other.jsonl"
    query = sql(script(tmp_path, f"keep:{bad}")).query
    place = Place(tmp_path)
    with first_files_only(query, 1):
        run_local(query, place, drain=False)
    more = bad.read_text() + "mine\n"
    bad.write_text(more)
    with pytest.raises(SinkError, match=f"{bad} is not as the last batch left it") as caught:
        run_local(query, place)
    assert "'keep:" in str(caught.value)
    run_local(sql(script(tmp_path, f"keep:{other}")).query, place)
    assert (bad.read_text(), rows_in(other)) == (more, KEPT_A[2:])


def test_a_file_of_kept_rows_that_was_moved_away_begins_anew(tmp_path: Path) -> None:
    write(tmp_path)
    bad = tmp_path / "bad.jsonl"
    query = sql(script(tmp_path, f"keep:{bad}")).query
    with first_files_only(query, 1):
        run_local(query, Place(tmp_path), drain=False)
    old = bad.rename(tmp_path / "bad.1")
    run_local(query, Place(tmp_path))
    assert rows_in(old) + rows_in(bad) == KEPT_A


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("results.jsonl", "is the sink, and no place for malformed rows"),
        ("a/bad.csv", "would be read as input of a"),
        ("b/bad/rows.jsonl", "would be read as input of b"),
        ("file/rows.jsonl", "cannot keep malformed rows in"),
    ],
)
def test_a_place_where_rows_cannot_be_kept(path: str, message: str, tmp_path: Path) -> None:
    write(tmp_path)
    put(tmp_path / "file", "")
    query = sql(script(tmp_path, f"keep:{tmp_path / path}")).query
    with pytest.raises(SinkError, match=message) as caught:
        run_local(query, Place(tmp_path, "jsonl"))
    assert "^^^" in str(caught.value)


def test_a_hidden_file_in_the_input_is_no_input(tmp_path: Path) -> None:
    write(tmp_path)
    bad = tmp_path / "a" / "_bad.jsonl"
    run_local(sql(script(tmp_path, f"keep:{bad}")).query, Place(tmp_path))
    assert rows_in(bad) == KEPT_A


@pytest.mark.parametrize(
    "point",
    [
        "after malformed rows are staged",
        "before the commit",
        "after the commit",
        "before malformed rows are kept",
        "in publishing lines",
        "after malformed rows are kept",
        "after the sweep",
    ],
)
def test_after_a_crash_each_malformed_row_is_kept_once(point: str, tmp_path: Path) -> None:
    write(tmp_path)
    bad = tmp_path / "bad.jsonl"
    text = script(tmp_path, f"keep:{bad}", f"keep:{bad}")
    run_local(sql(text).query, Place(tmp_path / "undisturbed"))
    wanted = bad.read_bytes()
    bad.unlink()
    place = Place(tmp_path)
    run = Run(text, str(place.checkpoint), parquet(tmp_path / "results").name)
    codes = []
    # Each attempt comes further than the one before: they die in different batches.
    for call in (0, 1, 3, 50):
        codes.append(exit_code(replace(run, crash=Crash(point, call))))
        if codes[-1] == 0:
            break
    assert (codes[-1], set(codes[:-1])) == (0, {-signal.SIGKILL})
    assert bad.read_bytes() == wanted
    assert set(place.results(sql(text).query)) == RESULTS


def test_samples_and_the_laboratory_leave_out_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path)
    query = sql(script(tmp_path)).query
    known = analyze(query, seconds=1.0)
    assert "b: 1 malformed rows and 1 unreadable files were left out." in known.notes
    with caplog.at_level(logging.WARNING):
        tables = read_all(query)
    assert {alias: len(table) for alias, table in tables.items()} == {"a": 4, "b": 2, "t": 2}
    assert [record.message for record in caplog.records if "file" not in record.message] == [
        "a: dropped 2 late, 3 malformed",
        "b: dropped 1 malformed",
        "t: dropped 1 malformed",
    ]


def test_the_last_line_of_a_run_adds_up(tmp_path: Path) -> None:
    write(tmp_path)
    text = tmp_path / "query.cql"
    text.write_text(script(tmp_path))
    penstock = Path(sys.executable).with_name("penstock")
    command = [penstock, "run", text, "--engine", "local", "--available-now", "--sink", "noop"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    assert (
        "read 15 tuples, of which 2 late, 5 malformed; 1 file unreadable; 4 results" in done.stderr
    )
    assert "in a 4  b 2  t 3  malformed 4  out 1" in done.stderr
    assert f"b: dropped a file: cannot read {tmp_path}/b/2.parquet" in done.stderr
