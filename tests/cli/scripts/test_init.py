"""`penstock init`: what it writes for hostile data has no mistakes, and runs as it is."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from penstock.cli.main import app
from penstock.cli.scripts import input_files
from penstock.cli.scripts.event_times import rounded
from penstock.cql import mistakes
from penstock.cql.script import declared
from penstock.duration import Duration
from penstock.query.source import Source

EPOCH = 1_767_225_600
DAY = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def penstock(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def made(*files: str) -> tuple[str, list[Source]]:
    """What is written for files, which has no mistakes, and the sources that it declares."""
    done = penstock("init", "--from", *files)
    assert done.exit_code == 0, done.exception
    text = done.stdout
    assert mistakes(text) == [], text
    return text, declared(text)


def results(text: str) -> list[dict[str, object]]:
    """What the query of a script gives, to the end of the streams."""
    Path("made.cql").write_text(text)
    Path("results.jsonl").unlink(missing_ok=True)
    done = penstock(
        *("run", "made.cql", "--engine", "local", "--available-now", "--drain"),
        *("--sink", "jsonl:results.jsonl"),
    )
    assert done.exit_code == 0, (text, done.exception)
    lines = Path("results.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def types(source: Source) -> dict[str, str]:
    return {field.name: str(field.type) for field in source.fields}


def write_lines(path: str, *lines: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_many_files_show_how_far_it_is(folder: Path) -> None:
    for number in range(45):
        (folder / f"{number}.csv").write_text("ts,x\n2026-01-01T00:00:00Z,1\n")
    done = penstock("init", "--from", ".")
    assert "reading files: 40 of 45" in done.stderr
    assert done.stdout.count("CREATE STREAM") == 1


def test_types_of_csv_are_the_narrowest_that_hold_all_values() -> None:
    write_lines(
        "data/a.csv",
        "ts,whole,real,flag,day,none,mixed,zip,huge,vast,nan",
        f"2026-01-01 00:00:00,1,1,true,2026-01-01,,1,007,{2**64},{'9' * 50},NaN",
        f"2026-01-01T00:00:01Z,-5,2.5e3,FALSE,2026-02-28,,x,12,{-(2**70)},1,1.5",
    )
    text, (source,) = made("data")
    assert types(source) == {
        "ts": "TIMESTAMP",
        "whole": "BIGINT",
        "real": "DOUBLE",
        "flag": "BOOLEAN",
        "day": "DATE",
        "none": "STRING",
        "mixed": "STRING",
        "zip": "STRING",
        "huge": "DECIMAL(38, 0)",
        "vast": "STRING",
        "nan": "DOUBLE",
    }
    for said in (
        "none STRING,  -- no value seen",
        "mixed STRING,  -- mixed: 1 of 2 values are numbers",
        "zip STRING,  -- digits with leading zeros",
        "huge DECIMAL(38, 0),  -- numbers beyond 64 bits",
        "vast STRING,  -- numbers of 50 digits, more than any type has",
        "-- Event time: ts.",
    ):
        assert said in text
    first, second = results(text)
    assert (first["whole"], first["zip"], second["flag"]) == (1, "007", False)
    assert (second["real"], first["none"]) == (2500.0, None)


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 1000), ("us", 1_000_000)])
def test_numbers_since_1970_are_event_times_of_a_unit(unit: str, factor: int) -> None:
    lines = [f"{(EPOCH + n) * factor},{n}" for n in range(3)]
    write_lines("ticks.csv", "when,n", *lines)
    text, (source,) = made("ticks.csv")
    assert (source.timestamp, source.unit, source.path) == ("when", unit, "ticks.csv")
    assert f"-- Event time: when, counted in {unit} since 1970 (UTC)." in text
    assert [row["n"] for row in results(text)] == [0, 1, 2]


def test_nanoseconds_are_told_and_what_has_no_time_is_a_table() -> None:
    write_lines("ticks.csv", "when,n", f"{EPOCH * 10**9},1")
    done = penstock("init", "--from", "ticks.csv")
    assert "-- when seems to be in nanoseconds: write it in microseconds." in done.stdout
    assert "CREATE TABLE ticks (" in done.stdout
    assert [error.message for error in mistakes(done.stdout)] == ["the script has no SELECT"]
    assert declared(done.stdout)[0].is_table


def test_tables_stand_beside_streams() -> None:
    write_lines("people.csv", "id;name", "1;Ann", "2;O'Hara")
    write_lines("bids.jsonl", '{"at": "2026-01-01T00:00:00Z", "who": 1}')
    text, sources = made("people.csv", "bids.jsonl")
    assert [(each.name, each.is_table) for each in sources] == [("people", True), ("bids", False)]
    joined = text[: text.index("SELECT")] + (
        "SELECT p.name FROM bids [NOW] AS b, people AS p WHERE b.who = p.id"
    )
    assert results(joined) == [{"name": "Ann"}]


@pytest.mark.parametrize(
    ("seconds", "lateness"),
    [
        ([0, 1, 2, 3], None),
        ([0, 3, 1, 4, 2], "2 seconds"),
        ([0, 100, 1], "2 minutes"),
        ([0, 86_400 * 3, 5], "3 days"),
    ],
)
def test_lateness_covers_the_disorder_of_the_rows(seconds: list[int], lateness: str | None) -> None:
    write_lines("a.csv", "ts,n", *(f"{EPOCH + each},{each}" for each in seconds))
    text, (source,) = made("a.csv")
    assert (f"lateness = '{lateness}'" in text) == (lateness is not None)
    if lateness is None:
        assert "-- Lateness: none" in text
    ordered = sorted(results(text), key=lambda row: int(str(row["n"])))
    assert [row["n"] for row in ordered] == sorted(seconds)
    assert source.lateness >= max(max(seconds[: n + 1]) - s for n, s in enumerate(seconds)) * 10**6


@pytest.mark.parametrize(
    ("micros", "lateness"),
    [
        (1, "1 millisecond"),
        (83, "1 millisecond"),
        (1_001, "2 milliseconds"),
        (350_001, "500 milliseconds"),
        (999_999, "1 second"),
        (83_000_000, "2 minutes"),
        (3_599_000_000, "1 hour"),
        (45_000_000_000, "1 day"),
        (86_400_000_001, "2 days"),
    ],
)
def test_lateness_is_rounded_up_to_a_unit_that_people_use(micros: int, lateness: str) -> None:
    assert rounded(micros) == lateness
    start = EPOCH * 1_000_000
    write_lines("a.csv", "ts,n", f"{start + micros},1", f"{start},2")
    text, (source,) = made("a.csv")
    assert source.lateness >= micros
    assert f"behind a later one, by {Duration(micros).about} at most." in text


WALL, ZONED = "2026-01-01 12:00:00", "2026-01-01T12:00:00+02:00"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (WALL, WALL, "without a time zone"),
        (ZONED, "2026-01-01T10:00Z", "with a time zone"),
        (ZONED, WALL, "1 of 2 without a time zone"),
        ("2026-01-01", "2026-01-02", "a day, declared so to be the event time"),
    ],
)
def test_times_are_told_to_have_a_zone_or_none(first: str, second: str, said: str) -> None:
    write_lines("a.csv", "ts,n", f"{first},1", f"{second},2")
    write_lines("b.jsonl", *(f'{{"at": "{time}", "n": 1}}' for time in (first, second)))
    text, _ = made("a.csv", "b.jsonl")
    for name in ("ts", "at"):
        assert f"  {name} TIMESTAMP,  -- {said}\n" in text
        is_told = f"-- Time zone: {name} without one is read as UTC." in text
        assert is_told == (said != "with a time zone")
    if "Time zone" in text:
        assert "timezone = 'Europe/Vienna'" in text


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Vienna"])
def test_times_of_parquet_have_a_zone_by_their_type(zone: str | None) -> None:
    times = pa.array([EPOCH * 1000], pa.timestamp("ms", tz=zone))
    pq.write_table(pa.table({"ts": times, "other": times}), "a.parquet")
    text, _ = made("a.parquet")
    assert f"  ts TIMESTAMP,  -- {'with' if zone else 'without'} a time zone\n" in text
    assert ("-- Time zone: ts, other without one are read as UTC." in text) == (zone is None)


def test_disorder_between_files_counts_by_the_times_of_the_files() -> None:
    for name, start, written in (("b", 0, 10), ("a", 60, 20), ("c", 30, 30)):
        write_lines(f"in/{name}.csv", "ts,n", f"{EPOCH + start},1")
        os.utime(f"in/{name}.csv", (written, written))
    text, (source,) = made("in")
    assert (source.path, source.name) == ("in", "in")
    assert "1 row of 3 stands behind a later one, by 30 seconds at most" in text
    assert source.lateness == 30_000_000
    assert len(results(text)) == 3


def test_names_that_need_quotes_get_them() -> None:
    names = [
        "ts",
        "two words",
        "select",
        "größe",
        "a.b",
        'in "quotes"',
        "it's",
        "-- x",
        "1st",
        "#h",
    ]
    objects = {name: n for n, name in enumerate(names)} | {"ts": "2026-01-01T00:00:00Z"}
    write_lines("order by.jsonl", json.dumps(objects))
    text, (source,) = made("order by.jsonl")
    assert [field.name for field in source.fields] == names
    assert results(text) == [objects | {"ts": "2026-01-01T00:00:00.000000Z"}]


def test_columns_that_cannot_be_read_are_left_out_and_told() -> None:
    write_lines("a.csv", 'ts,x,X,,`"', "2026-01-01 00:00:00,1,2,3,4")
    text, (source,) = made("a.csv")
    assert types(source) == {"ts": "TIMESTAMP"}
    assert "-- Left out: x, there are several of that name." in text
    assert "-- Left out: a column without a name, a name that cannot be written." in text
    assert len(results(text)) == 1


def test_json_has_nested_columns_and_mixed_ones() -> None:
    write_lines(
        "a.json",
        '{"t": 1767225600000, "tags":["x"], "at": {"lat": 1.5, "n": 1}, "m": 1, "odd": {"a b": 1}}',
        '{"t": 1767225601000, "tags": [], "at": null, "m": "two", "z": [1, "a", {}]}',
        "",
        "no object",
        "[1]",
    )
    text, (source,) = made("a.json")
    assert types(source) == {
        "t": "BIGINT",
        "tags": "ARRAY<STRING>",
        "at": "STRUCT<lat: DOUBLE, n: BIGINT>",
    }
    assert "-- 2 lines cannot be read as rows: these are dropped." in text
    assert "-- Left out: odd, an object whose members cannot be declared." in text
    assert "-- Left out: m, mixed: number, text." in text
    assert "-- Left out: z, a list of mixed items." in text
    first, second = results(text)
    assert (first["tags"], first["at"]) == (["x"], {"lat": 1.5, "n": 1})
    assert (second["tags"], second["at"]) == ([], None)


def test_rows_without_a_time_are_dropped() -> None:
    write_lines("a.csv", "ts,n", "2026-01-01,1", ",2", "2026-01-02,3")
    text, (source,) = made("a.csv")
    assert "-- 1 row without a time: these are dropped." in text
    assert types(source)["ts"] == "TIMESTAMP"
    assert "a day, declared so to be the event time" in text
    assert [row["n"] for row in results(text)] == [1, 3]


SECONDS = [f"2026-01-01 00:{n // 60:02}:{n % 60:02}" for n in range(200)]


@pytest.mark.parametrize("wrong", ["not-a-time", "0000-00-00 00:00:00", "01.01.2026 00:00"])
@pytest.mark.parametrize("format_", ["csv", "json"])
def test_one_wrong_time_does_not_spoil_the_event_time(wrong: str, format_: str) -> None:
    times = [*SECONDS[:70], wrong, *SECONDS[70:]]
    if format_ == "csv":
        write_lines("a.csv", "ts,born", *(f"{time},2001-01-01" for time in times))
    else:
        write_lines("a.json", *(json.dumps({"ts": time, "born": "2001-01-01"}) for time in times))
    text, (source,) = made(f"a.{format_}")
    assert (source.timestamp, types(source)["ts"]) == ("ts", "TIMESTAMP")
    assert f"-- 1 value of ts is no time, such as {wrong}: dropped." in text
    assert "-- Lateness: none, the rows are in the order of their times." in text
    assert "  ts TIMESTAMP,  -- without a time zone\n" in text
    assert len(results(text)) == len(SECONDS)


@pytest.mark.parametrize("wrong", ["n/a", str(2**62), "1"])
def test_one_wrong_number_does_not_spoil_the_event_time(wrong: str) -> None:
    times = [*(str(EPOCH + n) for n in range(30)), wrong]
    write_lines("a.csv", "ts,n", *(f"{time},1" for time in times))
    write_lines("b.json", *(json.dumps({"ts": t if t == "n/a" else int(t), "n": 1}) for t in times))
    text, sources = made("a.csv", "b.json")
    assert [(each.timestamp, each.unit) for each in sources] == [("ts", "s"), ("ts", "s")]
    said = "-- 1 row of 31 further behind" if wrong == "1" else f"no time, such as {wrong}: dropped"
    assert said in text
    for query in (text, text.replace("FROM a", "FROM b")):
        assert len([row for row in results(query) if row["ts"] != 1]) == 30


def test_a_column_of_which_many_values_are_no_times_is_no_event_time() -> None:
    write_lines("a.csv", "ts,n", *(f"{time},1" for time in [*SECONDS[:90], *(["x"] * 10)]))
    write_lines("b.csv", "ts,m", *(f"{time},1" for time in [*SECONDS[:5], "x"]))
    quoted = [*(f'{{"ts": "{EPOCH + n}"}}' for n in range(30)), '{"ts": "x"}']
    write_lines("c.json", *quoted)
    done = penstock("init", "--from", "a.csv", "b.csv", "c.json")
    assert [each.is_table for each in declared(done.stdout)] == [True, True, True]


def test_lateness_is_not_that_of_a_row_that_is_years_behind() -> None:
    times = [*SECONDS[:70], "1970-01-01 00:00:00", *SECONDS[70:], SECONDS[-4]]
    write_lines("a.csv", "ts,n", *(f"{time},1" for time in times))
    text, (source,) = made("a.csv")
    assert source.lateness == 5_000_000
    assert "-- Lateness: 1 row of 202 stands behind a later one, by 3 seconds at most." in text
    assert "-- 1 row of 202 further behind, by 20,454 days: not waited for" in text
    assert "malformed" not in text
    assert len(results(text)) >= len(SECONDS) + 1


@pytest.mark.parametrize("count", [4, 200])
def test_rows_of_the_future_are_dropped(count: int) -> None:
    times = [*SECONDS[:2], "2999-01-01 00:00:00", *SECONDS[2:count]]
    write_lines("a.csv", "ts,n", *(f"{time},1" for time in times))
    text, (source,) = made("a.csv")
    assert source.lateness == 0
    assert "-- 1 row more than a day in the future, as of 2999-01-01: dropped" in text
    assert "  malformed = 'drop'\n" in text
    assert len(results(text)) == count


def test_data_of_the_future_stay() -> None:
    write_lines("a.csv", "ts,n", *(f"{time.replace('2026', '2999')},1" for time in SECONDS))
    text, _ = made("a.csv")
    assert "-- Most times are in the future, up to 2999-01-01: future = 'none' lets" in text
    assert len(results(text)) == len(SECONDS)


def test_parquet_says_its_types() -> None:
    columns = {
        "ns": pa.array([1_767_225_600_000_000_001, None], pa.timestamp("ns")),
        "ts": pa.array([DAY, DAY], pa.timestamp("ms", "UTC")),
        "u": pa.array([2**64 - 1, None], pa.uint64()),
        "small": pa.array([1, 2], pa.int8()),
        "cost": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "word": pa.array(["a", None]).dictionary_encode(),
        "items": pa.array([[1], None], pa.list_(pa.int32())),
        "gone": pa.array([None, None], pa.null()),
        "clock": pa.array([1, 2], pa.time64("us")),
        "raw": pa.array([b"x", None]),
    }
    Path("in").mkdir()
    pq.write_table(pa.table(columns), "in/part.parquet")
    text, (source,) = made("in")
    assert (source.path, source.timestamp) == ("in", "ts")
    assert types(source) == {
        "ns": "TIMESTAMP",
        "ts": "TIMESTAMP",
        "u": "DECIMAL(20, 0)",
        "small": "TINYINT",
        "cost": "DECIMAL(10, 2)",
        "word": "STRING",
        "items": "ARRAY<INT>",
        "gone": "STRING",
        "raw": "BINARY",
    }
    assert "-- Left out: clock, time64[us] is not read." in text
    assert [row["small"] for row in results(text)] == [1, 2]


def test_parquet_has_nested_columns() -> None:
    columns = {
        "ts": pa.array([DAY]),
        "s": pa.array([{"city": "Graz", "zip": [1, 2]}]),
        "m": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())),
        "w": pa.array([{"a b": 1}]),
        "d": pa.array([{"t": 1}], pa.struct([("t", pa.duration("s"))])),
    }
    pq.write_table(pa.table(columns), "a.parquet")
    text, (source,) = made("a.parquet")
    assert types(source) == {
        "ts": "TIMESTAMP",
        "s": "STRUCT<city: STRING, zip: ARRAY<BIGINT>>",
        "m": "MAP<STRING, INT>",
    }
    assert text.count("-- Left out:") == text.count("is not read") == 2
    (row,) = results(text)
    assert (row["s"], row["m"]) == ({"city": "Graz", "zip": [1, 2]}, {"a": 1})


def test_files_of_one_shape_in_a_folder_are_one_stream_and_others_are_not() -> None:
    write_lines("in/a-1.csv", "ts,n", f"{EPOCH},1")
    write_lines("in/a-2.csv", "TS,n", f"{EPOCH + 1},2")
    write_lines("in/b.csv", "ts,other", f"{EPOCH},9")
    write_lines("in/.hidden.csv", "x", "1")
    write_lines("in/notes.txt", "nothing")
    text, sources = made("in")
    assert [(each.name, each.path) for each in sources] == [("a", "in/a-*.csv"), ("b", "in/b.csv")]
    assert [row["n"] for row in results(text)] == [1, 2]


@pytest.mark.parametrize("given", [["w"], ["w/p"], ["w/p/day=1/x.csv", "w/p/day=2/x.csv"]])
def test_files_in_the_folders_of_a_partition_are_one_stream(given: list[str]) -> None:
    for day in (1, 2):
        write_lines(f"w/p/day={day}/x.csv", "ts,n", f"{EPOCH + day},{day}")
    if len(given) == 1:
        write_lines("w/p/day=2/empty.csv")
    text, (source,) = made(*given)
    assert (source.name, source.path) == ("p", "w/p/day=*/*.csv")
    write_lines("w/p/day=3/y.csv", "ts,n", f"{EPOCH + 3},3")
    assert [row["n"] for row in results(text)] == [1, 2, 3]


def test_partitions_may_be_of_two_columns_and_hold_two_streams() -> None:
    for day in (1, 2):
        write_lines(f"w/[p]/day={day}/k={day}/bid-{day}.csv", "ts,n", f"{EPOCH},1")
        write_lines(f"w/[p]/day={day}/k={day}/ask-{day}.csv", "ts,m", f"{EPOCH},1")
        write_lines(f"w/[p]/day={day}/k={day}/_hidden.csv", "ts,n", f"{EPOCH},1")
    text, sources = made("w")
    assert [each.path for each in sources] == [
        "w/[[]p]/day=*/k=*/ask-*.csv",
        "w/[[]p]/day=*/k=*/bid-*.csv",
    ]
    assert len(results(text)) == 2


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("w", "w/day=*/*.csv"),
        ("w/day=1", "w/day=1"),
        ("w/day=1/x.csv", "w/day=1/x.csv"),
    ],
)
def test_one_folder_of_a_partition_stands_for_others_if_that_above_is_given(
    given: str, path: str
) -> None:
    write_lines("w/day=1/x.csv", "ts,n", f"{EPOCH},1")
    _, (source,) = made(given)
    assert source.path == path


@pytest.mark.parametrize("given", [["env=x/in"], ["env=x/in/day=1", "env=x/in/day=2"]])
def test_a_partition_above_what_is_given_has_one_value(given: list[str]) -> None:
    for day in (1, 2):
        write_lines(f"env=x/in/day={day}/x.csv", "ts,n", f"{EPOCH},1")
    _, (source,) = made(*given)
    assert (source.name, source.path) == ("in", "env=x/in/day=*/*.csv")


def test_a_partition_of_which_some_is_given_is_not_read_whole() -> None:
    for day in (1, 2, 3):
        write_lines(f"w/day={day}/x.csv", "ts,n", f"{EPOCH + day},{day}")
    _, sources = made("w/day=1", "w/day=3")
    assert [each.path for each in sources] == ["w/day=1", "w/day=3"]


def test_a_header_that_is_none_and_other_delimiters_are_seen() -> None:
    write_lines("a.tsv", f"{EPOCH}\tx\t1.5", f"{EPOCH + 1}\ty\t2.5")
    text, (source,) = made("a.tsv")
    assert types(source) == {"c1": "BIGINT", "c2": "STRING", "c3": "DOUBLE"}
    assert [row["c2"] for row in results(text)] == ["x", "y"]


@pytest.mark.parametrize(
    ("first", "type_"),
    [
        ("2026-01-01 00:00:00", "TIMESTAMP"),
        ("2026-01-01", "TIMESTAMP"),
        ("1e5", "DOUBLE"),
        ("true", "BOOLEAN"),
    ],
)
def test_a_time_or_a_truth_value_is_no_name_either(first: str, type_: str) -> None:
    write_lines("a.csv", f"{first},{EPOCH}", f"{first},{EPOCH + 1}")
    text, (source,) = made("a.csv")
    assert types(source) == {"c1": type_, "c2": "BIGINT"}
    assert len(results(text)) == 2


def test_what_is_longer_than_any_number_or_cell_is_a_text() -> None:
    digits, letters = "9" * 5000, "x" * 150_000
    write_lines("a.csv", "ts,n,t", f"{EPOCH},{digits},{letters}", f"{EPOCH + 1},1,y")
    text, (source,) = made("a.csv")
    assert types(source) == {"ts": "BIGINT", "n": "STRING", "t": "STRING"}
    assert "numbers of 5000 digits" in text
    assert [(row["n"], row["t"]) for row in results(text)] == [(digits, letters), ("1", "y")]


def test_rows_that_are_no_utf8_are_dropped_and_files_whose_names_are_none_left_out() -> None:
    Path("in").mkdir()
    Path("in/a.csv").write_bytes(f"ts,t\n{EPOCH},caf".encode() + b"\xe9\n1,y\n")
    Path("in/b.json").write_bytes(
        f'{{"ts":{EPOCH},"t":"\\ud800"}}\n{{"ts":{EPOCH},"t":"'.encode()
        + b'\xe9"}\n'
        + f'{{"ts":{EPOCH},"t":"x"}}\n'.encode()
    )
    Path("in/c.csv").write_bytes("ts,t\n1,2\n".encode("utf-16"))
    done = penstock("init", "--from", "in")
    assert "warning: in/c.csv is not UTF-8; it is left out" in done.stderr
    assert "1 line cannot be read as rows" in done.stdout
    assert "2 lines cannot be read as rows" in done.stdout
    assert [row["t"] for row in results(done.stdout)] == ["x"]
    Path("in/a.csv").unlink()
    Path("in/b.json").unlink()
    assert "none of the files can be read" in str(penstock("init", "--from", "in").exception)


def test_what_is_no_number_may_stand_among_numbers() -> None:
    write_lines("a.csv", "ts,n,t", f"{EPOCH},NaN,nan", f"{EPOCH + 1},1.5,x", f"{EPOCH + 2},-inf,")
    text, (source,) = made("a.csv")
    assert types(source) == {"ts": "BIGINT", "n": "DOUBLE", "t": "STRING"}
    assert len(results(text)) == 3


def test_what_is_nearly_right_is_told() -> None:
    write_lines("seconds.csv", "ts,n", f"{EPOCH}.5, 1", f"{EPOCH}.75, 2")
    text = penstock("init", "--from", "seconds.csv").stdout
    assert "-- ts seems to be seconds with a fraction: write whole milliseconds." in text
    assert "n STRING  -- numbers with blanks beside them" in text
    Path("array.json").write_text(json.dumps([{"ts": EPOCH}], indent=1))
    assert "one object a line" in penstock("init", "--from", "array.json").stdout


US_DATES = ["05/01/2026 10:00:00", "05/31/2026 10:00:01"]


@pytest.mark.parametrize(
    "lines",
    [
        ["id,name", "1,Ann"],
        ["ts,n", *(f"{date},1" for date in US_DATES)],
        [],
        ['[{"ts": 1767225600}]'],
    ],
)
def test_what_lacks_a_stream_says_so_in_its_last_line(lines: list[str]) -> None:
    path = "a.json" if lines and lines[0].startswith("[") else "a.csv"
    write_lines(path, *lines)
    done = penstock("init", "--from", path, "--output", "made.cql")
    assert "wrote made.cql; it is not complete, as there is no stream" in done.stderr
    text = Path("made.cql").read_text()
    assert [error.message for error in mistakes(text)] == ["the script has no SELECT"]
    last = text.splitlines()[-1]
    assert last.startswith("-- Not complete: penstock check fails")
    assert ("-- SELECT * FROM a [NOW];" in text) == ("CREATE TABLE a (" in text)


@pytest.mark.parametrize(
    "date", ["05/01/2026 10:00:00", "5/1/2026", "01.05.2026 10:00", "2026/05/01"]
)
def test_dates_of_another_order_are_told(date: str) -> None:
    write_lines("a.csv", "id,ts", f"1.5.2,{date}", f"1.5.20261,{date}")
    done = penstock("init", "--from", "a.csv")
    said = f"-- ts has dates such as {date}, which are no times here: write 2026-12-31 10:00:00."
    assert said in done.stdout
    assert done.stdout.count("has dates such as") == 1
    assert ("sed -E" in done.stdout) == (date[2] == "/")


def test_what_is_told_to_do_with_dates_of_the_us_makes_times_of_them() -> None:
    write_lines("a.csv", "ts,n", *(f"{date},1" for date in US_DATES))
    text = penstock("init", "--from", "a.csv").stdout
    (command,) = (line[line.index("sed") :] for line in text.splitlines() if "sed -E" in line)
    command = command.replace("FILE", "a.csv").replace("NEW", "b.csv")
    subprocess.run(command, shell=True, check=True)
    _, (source,) = made("b.csv")
    assert source.timestamp == "ts"


def test_rows_of_another_encoding_are_told_with_the_way_out() -> None:
    rows = f"ts,t\n{EPOCH},café\n{EPOCH + 1},x\n{EPOCH + 2},naïve\n"
    Path("a b.csv").write_bytes(rows.encode("latin-1"))
    text, _ = made("a b.csv")
    assert "-- 2 of them are not UTF-8, but perhaps latin-1." in text
    (command,) = (line[line.index("iconv") :] for line in text.splitlines() if "iconv" in line)
    subprocess.run(command, shell=True, check=True)
    text, _ = made("utf8-a b.csv")
    assert "UTF-8" not in text
    assert [row["t"] for row in results(text)] == ["café", "x", "naïve"]


@pytest.mark.parametrize(("encoding", "name"), [("latin-1", "LATIN1"), ("utf-16", "UTF-16")])
def test_names_of_another_encoding_are_told_with_the_way_out(encoding: str, name: str) -> None:
    Path("a.csv").write_bytes("ts,größe\n1,2\n".encode(encoding))
    done = penstock("init", "--from", "a.csv")
    assert f"hint: perhaps it is {name}: iconv -f {name} -t UTF-8 a.csv > utf8-a.csv" in done.stderr


@pytest.mark.parametrize(
    "write", [lambda: write_lines("in/a.csv"), lambda: write_lines("in/a.json")]
)
def test_empty_files_declare_nothing(write: Callable[[], None]) -> None:
    write()
    done = penstock("init", "--from", "in")
    assert done.exit_code == 0
    assert "no column to declare" in done.stdout
    assert declared(done.stdout) == []


def test_empty_files_beside_others_are_of_their_stream() -> None:
    write_lines("in/a.csv")
    write_lines("in/b.csv", "ts,n", f"{EPOCH},1")
    write_lines("in/c.csv", "ts,n")
    text, (source,) = made("in")
    assert source.path == "in"
    assert results(text) == [{"ts": EPOCH, "n": 1}]


def test_what_cannot_be_read_is_left_out_with_a_warning() -> None:
    write_lines("in/a.csv", "ts,n", f"{EPOCH},1")
    write_lines("in/b.parquet", "no parquet")
    done = penstock("init", "--from", "in")
    assert "warning: cannot read in/b.parquet" in done.stderr
    assert [each.path for each in declared(done.stdout)] == ["in/a.csv"]


def test_a_row_that_the_first_lines_end_in_is_not_malformed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(input_files, "MOST_ROWS", 3)
    write_lines("a.csv", "ts,n", f"{EPOCH},1", f"{EPOCH + 1},2", f'{EPOCH + 2},"x', 'y"')
    text, (source,) = made("a.csv")
    assert "malformed" not in text
    assert types(source) == {"ts": "BIGINT", "n": "BIGINT"}


def test_mistakes_are_answered() -> None:
    assert "there is no such file" in str(penstock("init", "--from", "nowhere").exception)
    write_lines("a.txt", "x")
    assert "no format that is known" in str(penstock("init", "a.txt").exception)
    Path("none").mkdir()
    assert "there are no data files" in str(penstock("init", "none").exception)
    assert penstock("init").exit_code == 2


def test_a_file_is_written_once() -> None:
    write_lines("a.csv", "ts,n", f"{EPOCH},1")
    assert penstock("init", "a.csv", "--output", "made.cql").stdout == ""
    assert mistakes(Path("made.cql").read_text()) == []
    assert "there already" in str(penstock("init", "a.csv", "--output", "made.cql").exception)


@pytest.mark.parametrize("ending", ["csv.gz", "jsonl.bz2"])
def test_packed_files_are_looked_into(folder: Path, ending: str) -> None:
    rows = ["ts,k", *(f"2026-01-01 00:00:0{n},{n}" for n in range(9))]
    if ending.startswith("jsonl"):
        rows = [json.dumps({"ts": f"2026-01-01 00:00:0{n}", "k": n}) for n in range(9)]
    (folder / "data").mkdir()
    for name in ("1", "2"):
        with pa.output_stream(folder / "data" / f"{name}.{ending}", compression="detect") as file:
            file.write("\n".join([*rows, ""]).encode())
    found = CliRunner().invoke(app, ["init", "--from", "data"])
    assert found.exit_code == 0, found.output
    (source,) = declared(found.stdout)
    assert (source.path, source.timestamp) == ("data", "ts")
    assert [field.name for field in source.fields] == ["ts", "k"]
