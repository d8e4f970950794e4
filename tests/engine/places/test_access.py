"""Stores are reached by what their URIs, Spark's settings and the environment say."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.api import sql
from penstock.engine.places.access import S3Access, settings_of_spark, take_settings
from penstock.engine.places.creating import create
from penstock.engine.places.objects import move_object
from penstock.engine.places.place import Place, open_new
from penstock.engine.sinks.sink import parquet
from penstock.errors import PlaceError, SetupError
from support.engines.soak import expected, script
from support.stores.s3_server import S3Server
from support.stores.stored_runs import script_over, stored_input, stored_results

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_PROFILE",
)
SPARKS = ("ACCESS_KEY", "SECRET_KEY", "SESSION_TOKEN", "ENDPOINT", "REGION", "SSL")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment that says nothing of stores, and is as it was afterwards."""
    for name in (*VARIABLES, *(f"PENSTOCK_S3_{name}" for name in SPARKS)):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    return monkeypatch


def test_the_uri_comes_first(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("AWS_ACCESS_KEY_ID", "theirs")
    bare.setenv("AWS_SECRET_ACCESS_KEY", "theirs")
    told = S3Access.of("mine:s%2Fe@bucket", "region=eu&endpoint_override=host:1&scheme=http")
    assert (told.key, told.secret, told.region) == ("mine", "s/e", "eu")
    assert told.endpoint == "http://host:1"
    assert "s/e" not in repr(told)


def test_then_what_spark_was_told(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("AWS_ACCESS_KEY_ID", "theirs")
    bare.setenv("AWS_SECRET_ACCESS_KEY", "theirs")
    settings = {
        "spark.hadoop.fs.s3a.access.key": "sparks",
        "spark.hadoop.fs.s3a.secret.key": "hidden",
        "spark.hadoop.fs.s3a.endpoint": "store:9000",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.endpoint.region": "eu-west-1",
        "spark.master": "local",
    }
    take_settings(settings_of_spark(settings))
    told = S3Access.of("bucket", "")
    assert (told.key, told.secret, told.token) == ("sparks", "hidden", None)
    assert (told.endpoint, told.region) == ("http://store:9000", "eu-west-1")


def test_then_the_environment_and_its_file(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert S3Access.of("bucket", "").key is None
    file = tmp_path / "credentials"
    file.write_text("[other]\naws_access_key_id = of-file\naws_secret_access_key = x\n")
    bare.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    bare.setenv("AWS_PROFILE", "other")
    assert S3Access.of("bucket", "").key == "of-file"
    bare.setenv("AWS_ACCESS_KEY_ID", "of-variable")
    bare.setenv("AWS_SECRET_ACCESS_KEY", "x")
    bare.setenv("AWS_SESSION_TOKEN", "t")
    assert S3Access.of("bucket", "").key == "of-variable"
    assert S3Access.of("bucket", "").token == "t"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://bucket/x", "s3a://bucket/x"),
        ("s3://bucket/x", "s3n://key:secret@bucket/x?region=eu"),
        ("gs://bucket/x", "gcs://bucket/x"),
        ("abfs://c@acc.dfs.core.windows.net/x", "abfss://c@acc.dfs.core.windows.net/x"),
        ("az://c/x", "abfss://c@acc.dfs.core.windows.net/x"),
    ],
)
def test_one_place_has_several_spellings(
    one: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "acc")
    assert Place.of(one) == Place.of(other)


def test_azure_is_told_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(PlaceError, match="cannot tell whose az://c/x is"):
        Place.of("az://c/x?sig=HIDDEN")
    assert Place.of("abfss://c@acc.dfs.core.windows.net/x").for_spark.startswith("abfss://c@acc.")


def test_a_place_is_kept_without_credentials() -> None:
    place = Place.of("s3://key:secret@bucket/x y?region=eu&session_token=hidden")
    assert place.plain == "s3://bucket/x%20y?region=eu"
    assert Place.of(place.plain).like(place).text == place.text
    assert Place.of("s3://elsewhere/x").like(place).text == "s3://elsewhere/x"
    assert Place.of("/a/b").plain == "/a/b"


def test_odd_names_are_the_same_to_both_libraries(bucket: str) -> None:
    folder = Place.of(f"s3://{bucket}/a b%2E")
    create(folder / "ä#?[1]", b"one")
    with folder.filesystem.open_input_stream((folder / "ä#?[1]").path) as stream:
        assert stream.read() == b"one"
    with open_new(folder / "+x=1 %") as file:
        file.write(b"two")
    with pytest.raises(FileExistsError):
        create(folder / "+x=1 %", b"three")
    folder.delete(["+x=1 %", "ä#?[1]", "gone"])
    assert not list(folder.files())


def test_what_was_created_by_us_is_created(bucket: str) -> None:
    """As where the answer to a request is lost, and it is made again."""
    place = Place.of(f"s3://{bucket}/once")
    create(place, b"mine")
    create(place, b"mine")
    with pytest.raises(FileExistsError):
        create(pickle.loads(pickle.dumps(place)), b"yours")


def test_a_file_is_moved_once(bucket: str) -> None:
    old, new = Place.of(f"s3://{bucket}/old"), Place.of(f"s3://{bucket}/new")
    create(old, b"it")
    move_object(old, new)
    assert new.exists
    assert not old.exists
    with pytest.raises(FileNotFoundError):
        move_object(old, new)


def test_the_library_is_asked_for(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(SetupError, match="obstore") as caught:
        Place.of("s3://bucket-of-nobody/x").info()
    assert caught.value.hint == "python -m pip install 'penstock[stores]'"


@pytest.mark.spark
def test_spark_tells_its_workers(
    bucket: str, server: S3Server, spark: SparkSession, bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in server.variables.items():
        bare.setenv(name, value)
    text = script_over("pair", stored_input(tmp_path / "in", bucket, files=1))
    for name in VARIABLES:
        bare.delenv(name, raising=False)
    settings = {
        "access.key": "penstock",
        "secret.key": "open-sesame",
        "endpoint": server.url,
        "endpoint.region": "us-east-1",
    }
    conf = spark.sparkContext._conf
    for name, value in settings.items():
        conf.set(f"spark.hadoop.fs.s3a.{name}", value)
    known = dict(spark.sparkContext.environment)
    sink = parquet(f"s3a://{bucket}/out")
    try:
        checkpoint = f"s3a://{bucket}/checkpoint"
        run = sql(text).start(
            spark, sink=sink, checkpoint=checkpoint, available_now=True, drain=True
        )
        run.await_termination()
        assert stored_results(sink) == expected(script("pair", tmp_path / "in"))
    finally:
        spark.sparkContext.environment.clear()
        spark.sparkContext.environment.update(known)
        for name in settings:
            conf.set(f"spark.hadoop.fs.s3a.{name}", "")
