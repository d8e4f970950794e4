"""What is wrong with a store is said in a line, with what to do, and without secrets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.api import sql
from penstock.engine.places.objects import list_objects
from penstock.engine.places.place import Place
from penstock.engine.sinks.sink import jsonl, noop, parquet
from penstock.errors import CheckpointError, PenstockError, SinkError, SourceError
from support.stores.s3_server import S3Server, s3_server
from support.stores.stored_runs import script_over, stored_input


@pytest.fixture(scope="module")
def strict() -> Iterator[S3Server]:
    """A server that knows nobody's credentials."""
    with s3_server() as found:
        found.make_bucket("strict-bucket")
        found.ask("moto-api/reset-auth", b"0")
        yield found


@pytest.fixture
def text(bucket: str, tmp_path: Path) -> str:
    return script_over("pair", stored_input(tmp_path / "in", bucket, files=1))


def test_a_bucket_that_is_not_there(text: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such bucket or container, nobody-s") as caught:
        sql(text).local(sink=noop(), checkpoint="s3://nobody-s/checkpoint")
    assert caught.value.hint == "create it first, or mend its name; Penstock makes no buckets"
    with pytest.raises(SinkError, match="no such bucket or container, nobody-s"):
        sql(text).local(sink=parquet("s3://nobody-s/out"), checkpoint=tmp_path / "one")
    missing = text.replace(text[text.index("s3a://") : text.index("/in/")], "s3://nobody-s")
    with pytest.raises(SourceError, match="no such bucket or container, nobody-s"):
        sql(missing).local(sink=noop(), checkpoint=tmp_path / "two").available_now()


def test_credentials_that_nobody_knows(
    text: str, strict: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in strict.variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CheckpointError, match="does not know these credentials") as caught:
        sql(text).local(sink=noop(), checkpoint="s3://strict-bucket/checkpoint")
    assert "AWS_ACCESS_KEY_ID" in str(caught.value.hint)
    assert "open-sesame" not in str(caught.value)
    with pytest.raises(SinkError, match="does not know these credentials"):
        sql(text).local(sink=parquet("s3://strict-bucket/out"), checkpoint=tmp_path / "one")


def test_a_server_that_is_not_there(text: str) -> None:
    nowhere = "s3://bucket/checkpoint?endpoint_override=127.0.0.1:9&scheme=http"
    with pytest.raises(CheckpointError, match="the store cannot be reached") as caught:
        sql(text).local(sink=noop(), checkpoint=nowhere)
    assert "AWS_ENDPOINT_URL" in str(caught.value.hint)


def test_the_command_says_it_without_a_stack_trace(text: str, tmp_path: Path) -> None:
    query = tmp_path / "query.cql"
    query.write_text(text)
    main = "from penstock.cli.main import main; main()"
    command = [sys.executable, "-c", main, "run", str(query), "--engine", "local"]
    command += ["--checkpoint", "s3://KEY:HIDDEN@nobody-s/checkpoint", "--sink", "noop"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "there is no such bucket or container, nobody-s" in found.stderr
    assert "hint: create it first" in found.stderr
    assert "Traceback" not in found.stderr
    assert "HIDDEN" not in found.stderr + found.stdout


def test_lines_cannot_be_appended_there(text: str, bucket: str, tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="a jsonl sink must be a local file") as caught:
        sql(text).local(sink=jsonl(f"s3://{bucket}/out.jsonl"), checkpoint=tmp_path / "one")
    assert caught.value.hint == "use a parquet sink there"


def test_an_option_that_nobody_knows(text: str) -> None:
    with pytest.raises(PenstockError, match="unknown option: regoin"):
        sql(text).local(sink=noop(), checkpoint="s3://bucket/checkpoint?regoin=eu")


def test_no_secret_comes_into_a_checkpoint(
    text: str, bucket: str, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    own = f"s3://KEYED:HIDDEN@{bucket}"
    asked = text.replace(f"s3a://{bucket}", own)
    run = sql(asked).local(sink=parquet(f"{own}/out"), checkpoint=f"{own}/checkpoint")
    run.available_now()
    again = sql(asked).local(sink=parquet(f"{own}/out"), checkpoint=f"{own}/checkpoint")
    again.available_now(drain=True)
    root = Place.of(f"{own}/checkpoint")
    files = [root / each.name for each in list_objects(root)]
    assert len(files) > 5
    for file in files:
        with file.filesystem.open_input_stream(file.path) as stream:
            held = stream.read()
        assert b"HIDDEN" not in held, file.name
