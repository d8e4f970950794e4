"""Fixtures of tests on object stores: one server for all of them, a bucket for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engine.places.copies import FOLDER, copies
from support.stores.s3_server import S3Server, s3_server


@pytest.fixture(scope="session")
def server() -> Iterator[S3Server]:
    """An S3 server on the loopback."""
    with s3_server() as found:
        yield found


@pytest.fixture
def bucket(
    server: S3Server,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[str]:
    """The name of a new bucket, which the environment says how to reach."""
    for name, value in server.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(FOLDER, str(tmp_path / "copies"))
    copies.cache_clear()
    name = f"bucket-{abs(hash(request.node.nodeid)):x}"
    server.make_bucket(name)
    yield name
    copies.cache_clear()
