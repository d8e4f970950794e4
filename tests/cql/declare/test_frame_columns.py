"""Streams and tables that are DataFrames: what the statement and what the frame says of them."""

from __future__ import annotations

import pytest

from penstock.cql import parse
from penstock.errors import PenstockError
from penstock.query import DataType, Field, Source
from penstock.query.foreign.frame import FrameShape

BID = FrameShape(
    fields=(
        Field("ts", DataType.TIMESTAMP),
        Field("Auction", DataType.BIGINT),
        Field("price", DataType.DOUBLE),
    ),
    is_streaming=True,
    unheld=(("meta", "struct<city:string>"), ("tags", "array<string>")),
)
MARKED = FrameShape(BID.fields, True, BID.unheld, {"ts": 7_000_000})
PERSON = FrameShape((Field("id", DataType.BIGINT), Field("name", DataType.STRING)), False)
SELECT = "SELECT b.price FROM bid [NOW] AS b"


def declared(with_: str, frame: FrameShape = BID, select: str = SELECT) -> Source:
    """The stream of a script that declares it so."""
    text = f"CREATE STREAM bid {with_}; {select}"
    return parse(text, frames={"BID": frame}).sources["bid"]


def refused(with_: str, frame: FrameShape = BID, select: str = SELECT) -> str:
    with pytest.raises(PenstockError) as caught:
        declared(with_, frame, select)
    return str(caught.value)


def test_columns_and_types_come_from_the_frame() -> None:
    source = declared("WITH (format = 'dataframe', timestamp = 'TS')")
    assert (source.fields, source.unheld, source.timestamp) == (BID.fields, BID.unheld, "ts")
    assert source.lateness == 0


def test_event_time_and_lateness_come_from_the_watermark() -> None:
    source = declared("WITH (format = 'dataframe')", MARKED)
    assert (source.timestamp, source.lateness) == ("ts", 7_000_000)


def test_the_statement_goes_before_the_watermark() -> None:
    source = declared("WITH (format = 'dataframe', lateness = '1 second')", MARKED)
    assert (source.timestamp, source.lateness) == ("ts", 1_000_000)


def test_of_two_watermarks_neither_is_taken() -> None:
    fields = (*BID.fields, Field("at", DataType.TIMESTAMP))
    frame = FrameShape(fields, True, watermarks={"ts": 1_000_000, "at": 2_000_000})
    assert "stream bid has no timestamp" in refused("WITH (format = 'dataframe')", frame)
    source = declared("WITH (format = 'dataframe', timestamp = 'at')", frame)
    assert source.lateness == 2_000_000


def test_listed_columns_are_all_that_is_taken() -> None:
    with_ = "(ts TIMESTAMP, price DOUBLE) WITH (format = 'dataframe', timestamp = 'ts')"
    source = declared(with_)
    assert [field.name for field in source.fields] == ["ts", "price"]
    assert source.unheld == ()


def test_a_listed_column_must_be_there_as_it_is_listed() -> None:
    said = refused("(ts TIMESTAMP, price INT) WITH (format = 'dataframe', timestamp = 'ts')")
    assert "column price of the DataFrame of bid is DOUBLE, not INT" in said
    said = refused("(ts TIMESTAMP, prize DOUBLE) WITH (format = 'dataframe', timestamp = 'ts')")
    assert "the DataFrame of bid has no column prize" in said
    said = refused("(ts TIMESTAMP, meta STRING) WITH (format = 'dataframe', timestamp = 'ts')")
    assert "is struct<city:string>, not STRING" in said


@pytest.mark.parametrize(
    ("select", "name"),
    [
        ("SELECT b.meta FROM bid [NOW] AS b", "meta"),
        ("SELECT TAGS FROM bid [NOW] AS b", "tags"),
        ("SELECT * FROM bid [NOW] AS b", "meta"),
        ("SELECT b.price FROM bid [NOW] AS b WHERE b.tags = 'x'", "tags"),
        ("SELECT b.price FROM bid [PARTITION BY meta ROWS 3] AS b", "meta"),
    ],
)
def test_columns_that_cannot_be_held_are_refused_where_they_are_read(
    select: str, name: str
) -> None:
    said = refused("WITH (format = 'dataframe', timestamp = 'ts')", select=select)
    assert f"column {name} of bid is" in said
    assert "which queries cannot read" in said
    assert "cast it in the DataFrame" in said


def test_an_event_time_that_cannot_be_held_is_named() -> None:
    said = refused("WITH (format = 'dataframe', timestamp = 'meta')")
    assert "column meta of bid is struct<city:string>" in said


def test_without_a_timestamp_there_is_no_stream() -> None:
    said = refused("WITH (format = 'dataframe')")
    assert "stream bid has no timestamp" in said
    assert "add timestamp = 'ts'" in said


def test_a_frame_for_a_stream_of_another_format_is_refused() -> None:
    said = refused("(ts TIMESTAMP) WITH (format = 'csv', path = 'x', timestamp = 'ts')")
    assert "a DataFrame was given for stream bid, which has another format" in said


def test_a_frame_for_nothing_is_refused() -> None:
    text = "CREATE STREAM bid (ts TIMESTAMP) WITH (format = 'csv', path = 'x', timestamp = 'ts');"
    with pytest.raises(PenstockError, match="given for bit, which the script does not declare"):
        parse(text + "SELECT * FROM bid [NOW]", frames={"bit": BID})


def test_without_its_frame_a_stream_may_list_its_columns() -> None:
    text = "CREATE STREAM bid (ts TIMESTAMP) WITH (format = 'dataframe', timestamp = 'ts');"
    assert parse(text + "SELECT * FROM bid [NOW]").sources["bid"].format == "dataframe"
    with pytest.raises(PenstockError, match="has no columns") as caught:
        parse("CREATE STREAM bid WITH (format = 'dataframe'); SELECT * FROM bid [NOW]")
    assert 'streams={"bid": frame}' in (caught.value.hint or "")


def test_static_frames_are_tables_and_streams_are_not() -> None:
    bid = "CREATE STREAM bid WITH (format = 'dataframe', timestamp = 'ts');"
    select = "SELECT b.price, p.name FROM bid [NOW] AS b, person AS p WHERE b.auction = p.id"
    table = bid + "CREATE TABLE person WITH (format = 'dataframe');" + select
    query = parse(table, frames={"bid": BID, "person": PERSON})
    assert query.sources["person"].is_table
    assert query.sources["person"].fields == PERSON.fields
    with pytest.raises(PenstockError, match="the DataFrame of table person is a stream"):
        parse(table, frames={"bid": BID, "person": BID})
    with pytest.raises(PenstockError, match="the DataFrame of stream bid does not stream"):
        parse(table, frames={"bid": PERSON, "person": PERSON})


def test_options_of_readers_are_passed_on_as_they_are_written() -> None:
    text = """
    CREATE STREAM bid (ts TIMESTAMP, k INT) WITH (
      format = 'spark:Delta', timestamp = 'ts', lateness = '2 seconds', path = 'data/bids',
      maxFilesPerTrigger = 3, ignoreDeletes = TRUE, 'kafka.group.id' = 'x', "a.b" = 0.5, header = 1
    );
    SELECT * FROM bid [NOW]
    """
    source = parse(text).sources["bid"]
    assert (source.format, source.reader, source.path) == ("spark", "Delta", None)
    assert dict(source.reader_options) == {
        "path": "data/bids",
        "maxFilesPerTrigger": "3",
        "ignoreDeletes": "true",
        "kafka.group.id": "x",
        "a.b": "0.5",
        "header": "1",
    }
    assert source.lateness == 2_000_000
    assert "data/bids" not in repr(source)


def test_a_reader_must_be_named() -> None:
    text = "CREATE STREAM bid (ts TIMESTAMP) WITH (format = '{}'); SELECT * FROM bid [NOW]"
    for format_ in ("spark", "spark:"):
        with pytest.raises(PenstockError, match=r"or 'spark:…'"):
            parse(text.format(format_))


def test_other_formats_have_no_options_of_readers() -> None:
    text = "CREATE STREAM bid (ts TIMESTAMP) WITH (format = 'csv', maxFilesPerTrigger = 3);"
    with pytest.raises(PenstockError, match="there is no option maxfilespertrigger"):
        parse(text + "SELECT * FROM bid [NOW]")


def test_names_inside_of_columns_match_in_any_case() -> None:
    held = DataType("STRUCT<City: STRING, at: ARRAY<STRUCT<LAT: DOUBLE>>>")
    frame = FrameShape((*BID.fields, Field("META", held)), True)
    listed = "(ts TIMESTAMP, meta STRUCT<city: STRING, At: ARRAY<STRUCT<lat: DOUBLE>>>)"
    with_ = f"{listed} WITH (format = 'dataframe', timestamp = 'ts')"
    source = declared(with_, frame, "SELECT META.CITY FROM bid [NOW]")
    assert source.fields[1].name == "meta"
    other = with_.replace("lat: DOUBLE", "lat: FLOAT")
    assert "column meta of the DataFrame of bid is STRUCT" in refused(
        other, frame, "SELECT ts FROM bid [NOW]"
    )


@pytest.mark.parametrize(
    ("with_", "hint"),
    [
        ("WITH (format = 'dataframe', timestamp = 'at')", "cast it to TIMESTAMP in the DataFrame"),
        ("(at TIMESTAMP_NTZ) WITH (format = 'spark:delta', timestamp = 'at')", "in a DataFrame"),
        (
            "(at TIMESTAMP_NTZ) WITH (format = 'synthetic', rate = 1, timestamp = 'at')",
            "declare it TIMESTAMP, which is made in UTC",
        ),
        (
            "(at TIMESTAMP_NTZ) WITH (format = 'json', path = 'p', timestamp = 'at')",
            "timezone = 'Europe/Vienna'",
        ),
    ],
)
def test_an_event_time_without_a_zone_gets_a_hint_that_its_format_can_follow(
    with_: str, hint: str
) -> None:
    frame = FrameShape((Field("at", DataType.TIMESTAMP_NTZ),), True)
    text = f"CREATE STREAM bid {with_}; SELECT at FROM bid [NOW]"
    with pytest.raises(PenstockError, match="has no zone") as caught:
        parse(text, frames={"bid": frame} if "'dataframe'" in with_ else {})
    assert hint in str(caught.value)
    assert ("timezone" in str(caught.value)) == ("'json'" in with_)
