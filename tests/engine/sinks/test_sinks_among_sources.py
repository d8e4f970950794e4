"""Results are never written where the query would read them as its own input."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.engine.sinks.sink import Sink
from penstock.errors import SinkError

ROW = '{"t": 1}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of payments: a file of one tuple."""
    (tmp_path / "payments").mkdir()
    (tmp_path / "payments" / "1.jsonl").write_text(ROW)
    return tmp_path


def script(path: Path, select: str = "SELECT t FROM pay [NOW]") -> str:
    return (
        f"CREATE STREAM pay (t BIGINT) WITH (format='json', path='{path}', timestamp='t', "
        f"unit='s'); {select}"
    )


@pytest.mark.parametrize(
    ("source", "sink"),
    [
        ("payments", "jsonl:payments/out.jsonl"),
        ("payments", "jsonl:payments/deep/er/out.jsonl"),
        ("payments/1.jsonl", "jsonl:payments/1.jsonl"),
        ("payments/*.jsonl", "jsonl:payments/out.jsonl"),
        ("**/*.jsonl", "jsonl:payments/deep/out.jsonl"),
        ("pay*", "jsonl:payments/deep/out.jsonl"),
        ("payments", "jsonl:link/out.jsonl"),
        ("payments", "parquet:payments"),
        ("payments", "parquet:payments/results"),
        ("payments/*.parquet", "parquet:payments"),
    ],
)
def test_a_sink_that_the_query_reads(source: str, sink: str, folder: Path) -> None:
    (folder / "link").symlink_to(folder / "payments")
    kind, _, path = sink.partition(":")
    given = Sink.named(f"{kind}:{folder / path}")
    query = ps.sql(script(folder / source))
    message = f"the results in {given.place} would be read as rows of pay"
    for overwrite in (False, True):
        with pytest.raises(SinkError, match=message) as caught:
            query.local(sink=given, checkpoint=folder / "state", overwrite=overwrite)
        assert "^^^" in str(caught.value)
        with pytest.raises(SinkError, match=message):
            query.check(
                engine="local", sink=given, checkpoint=folder / "state", overwrite=overwrite
            )
    assert (folder / "payments" / "1.jsonl").read_text() == ROW
    assert [each.name for each in (folder / "payments").iterdir()] == ["1.jsonl"]


@pytest.mark.parametrize(
    ("source", "sink"),
    [
        ("payments", "out.jsonl"),
        ("payments", "payments.jsonl"),
        ("payments", "payments/_out.jsonl"),
        ("payments/*.jsonl", "payments/out.json"),
        ("payments/*.jsonl", "payments/deep/out.jsonl"),
    ],
)
def test_a_sink_that_the_query_does_not_read(source: str, sink: str, folder: Path) -> None:
    (folder / sink).parent.mkdir(exist_ok=True)
    query = ps.sql(script(folder / source))
    run = query.local(sink=ps.jsonl(folder / sink), checkpoint=folder / "state")
    run.available_now(drain=True)
    assert (folder / sink).read_text() == '{"t":1}\n'


def test_a_sink_that_another_query_of_the_script_reads(folder: Path) -> None:
    (folder / "bids").mkdir()
    text = script(
        folder / "payments",
        f"CREATE STREAM bids (t BIGINT) WITH (format='json', path='{folder}/bids', "
        "timestamp='t', unit='s'); SELECT t INTO a FROM pay [NOW]; SELECT t INTO b FROM bids [NOW]",
    )
    sinks = {"a": ps.jsonl(folder / "bids" / "a.jsonl"), "b": ps.noop()}
    with pytest.raises(SinkError, match="would be read as rows of bids"):
        ps.script(text).local(sink=sinks, checkpoint=folder / "state")


def test_the_command_line_names_stream_and_path(folder: Path) -> None:
    (folder / "q.cql").write_text(script(folder / "payments"))
    out = folder / "payments" / "out.jsonl"
    words = ["run", str(folder / "q.cql"), "--engine=local", "--available-now", "--drain"]
    made = CliRunner().invoke(app, [*words, f"--sink=jsonl:{out}"])
    assert isinstance(made.exception, SinkError)
    assert f"the results in {out} would be read as rows of pay" in str(made.exception)
    assert not out.exists()
