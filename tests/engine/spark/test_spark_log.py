"""The log of the JVM: where only its user writes, and never through a link."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from penstock.engine.spark import jvm, session


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folder in a temporary folder that others write in too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    jvm.own_folder.cache_clear()
    yield tmp_path / f"penstock-{os.getuid()}"
    jvm.own_folder.cache_clear()


def test_the_log_is_in_a_folder_of_ones_own(folder: Path) -> None:
    assert Path(jvm.log_file()).parent == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    with session._stderr_to(jvm.log_file()):
        os.write(2, b"said\n")
    assert Path(jvm.log_file()).read_text() == "said\n"
    assert Path(jvm.log_file()).stat().st_mode & 0o777 == 0o600


def test_what_others_have_put_there_is_not_used(folder: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    folder.symlink_to(trap)
    with session._stderr_to(jvm.log_file()):
        os.write(2, b"said\n")
    assert not list(trap.iterdir())
    assert Path(jvm.log_file()).read_text() == "said\n"


def test_a_link_in_the_place_of_the_log_is_not_followed(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    Path(jvm.log_file()).symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"), session._stderr_to(jvm.log_file()):
        os.write(2, b"said\n")
    handler = session._OwnFile(jvm.log_file(), delay=True)
    with pytest.raises(OSError, match="symbolic links"):
        handler.emit(logging.makeLogRecord({"msg": "said"}))
    assert victim.read_text() == "precious"


def test_one_machine_is_localhost_and_tries_tasks_again() -> None:
    masters = {
        "local": "local[1,4]",
        "local[*]": "local[*,4]",
        "local[2]": "local[2,4]",
        "local[2,1]": "local[2,1]",
        "local-cluster[2,1,1024]": "local-cluster[2,1,1024]",
        "spark://host:7077": "spark://host:7077",
    }
    assert {master: session._retrying(master) for master in masters} == masters
    hosts = {master: "spark.driver.host" in session._settings_of(master) for master in masters}
    assert hosts == {master: master.startswith("local") for master in masters}
