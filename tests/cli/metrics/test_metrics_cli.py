"""`penstock run --metrics`: what is scraped while it runs is what the log says."""

from __future__ import annotations

import re
import socket
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.cli.metrics.meters import Meters
from penstock.cli.metrics.serving import Address, address_of, serving
from penstock.engine.reports.reading import read_reports
from penstock.errors import SetupError, UsageError
from support.engines.reported import made, script


def scraped(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as page:
        return str(page.read().decode())


def test_a_run_serves_what_its_log_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "query.cql").write_text(script(tmp_path))
    pages: list[str] = []
    take = Meters.__call__

    def and_look(meters: Meters, report: Any) -> None:
        take(meters, report)
        pages.append(scraped(urls[0]))

    urls: list[str] = []
    monkeypatch.setattr(Meters, "__call__", and_look)
    monkeypatch.setattr(
        "penstock.cli.show.voice.Voice.say", lambda _, text: urls.append(text.split()[-1])
    )
    arguments = ["--engine", "local", "--available-now", "--sink", "noop", "--metrics", "0"]
    place = tmp_path / "checkpoint"
    done = CliRunner().invoke(
        app, ["run", str(tmp_path / "query.cql"), *arguments, "--checkpoint", str(place)]
    )
    assert done.exit_code == 0, done.output
    reports = [*read_reports(place)]
    for count, (page, last) in enumerate(zip(pages, reports, strict=True), 1):
        assert f"\npenstock_batches_total {count}.0\n" in page
        assert f'\npenstock_results_total{{query=""}} {float(last.total_results)}\n' in page
        assert f'\npenstock_state_tuples{{query=""}} {float(last.state_tuples)}\n' in page
    # It was closed with the run.
    with pytest.raises(OSError):  # noqa: PT011
        scraped(urls[0])


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("9464", Address(9464)),
        ("0.0.0.0:1", Address(1, "0.0.0.0")),
        ("[::1]:5", Address(5, "::1")),
        (":7", Address(7)),
    ],
)
def test_ports_and_hosts(text: str, address: Address) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize("text", ["", "x", "65536", "-1", "host:", "1.5"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no port"):
        address_of(text)


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = f"cannot serve metrics at 127.0.0.1:{port}: "
        with pytest.raises(UsageError, match=message):
            serving(Address(port), lambda _: None).__enter__()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with suppress(KeyError):
        monkeypatch.delitem(sys.modules, "penstock.cli.metrics.meters")
    done = CliRunner().invoke(app, ["run", "nowhere.cql", "--metrics", "0"])
    assert "cannot read nowhere.cql" in str(done.exception)  # Nothing is loaded before it runs.
    with pytest.raises(SetupError, match="prometheus-client") as told:
        serving(Address(0), lambda _: None).__enter__()
    assert told.value.hint is not None
    assert re.search(r"penstock\[metrics\]", told.value.hint)


def test_meters_serve_outside_of_a_run() -> None:
    said: list[str] = []
    with serving(Address(0), said.append) as meters:
        meters(made(0))
        assert "penstock_batches_total 1.0" in scraped(said[0].split()[-1])
