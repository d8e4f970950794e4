"""Sources keep all that was declared of them."""

from __future__ import annotations

from penstock.cql import parse


def test_a_stream_source_keeps_all_that_was_declared() -> None:
    (only,) = parse(
        """
        CREATE STREAM Bid (At BIGINT, price Real, note text) WITH (
          FORMAT = 'csv', path = 'data', timestamp = 'at', unit = 'ms', lateness = '5 seconds',
          idle = '1 min', rate = 1000, malformed = 'drop', delimiter = '\\t', max_files = 2
        );
        SELECT * FROM BID [NOW]
        """,
        "bids.cql",
    ).inputs
    source = only.source
    assert (only.alias, source.name, source.timestamp, source.unit) == ("Bid", "Bid", "At", "ms")
    assert (source.lateness, source.idle, source.rate) == (5_000_000, 60_000_000, 1000.0)
    assert source.malformed == "drop"
    assert [field.type for field in source.fields] == ["BIGINT", "FLOAT", "STRING"]
    assert dict(source.options) == {"header": True, "delimiter": "\t", "null": "", "max_files": 2}
    places = {key: place.text[place.start : place.end] for key, place in source.places.items()}
    assert places["name"] == "Bid"
    assert places["path"] == "'data'"
    assert source.places["path"].file == "bids.cql"


def test_sources_without_files() -> None:
    tick, made = parse(
        """
        CREATE STREAM tick WITH (format = 'rate', rate = 10);
        CREATE STREAM made (ts TIMESTAMP, k INT) WITH (
          format = 'synthetic', timestamp = 'ts', rate = 2.5, duration = '1 min', seed = 7,
          max_time = '5 s', values = 'k: uniform(0, 9)', start = '2026-01-01 00:00:00'
        );
        SELECT tick.value FROM tick [NOW], made [NOW] WHERE tick.value = made.k
        """
    ).inputs
    assert [field.name for field in tick.source.fields] == ["timestamp", "value"]
    assert (tick.source.timestamp, tick.source.rate) == ("timestamp", 10.0)
    assert dict(made.source.options) == {
        "arrivals": "constant",
        "duration": 60_000_000,
        "seed": 7,
        "max_time": 5_000_000,
        "values": "k: uniform(0, 9)",
        "start": "2026-01-01 00:00:00",
    }
