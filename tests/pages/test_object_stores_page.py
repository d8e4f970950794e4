"""The page on object stores: a reader with a store gets what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.pages.reader import Reader
from support.paths import ROOT
from support.stores.s3_server import S3Server


@pytest.mark.usefixtures("bucket")
def test_a_reader_gets_what_the_page_shows(server: S3Server, tmp_path: Path) -> None:
    server.make_bucket("bucket")
    Reader(ROOT / "docs" / "how-to" / "object-stores.md", tmp_path).follow()
