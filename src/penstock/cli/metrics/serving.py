"""The page that Prometheus scrapes, for as long as a run lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from penstock.errors import SetupError, UsageError

if TYPE_CHECKING:
    from penstock.engine.reports.report import Report

_HOST = "127.0.0.1"
_HINT = "python -m pip install 'penstock[metrics]'"
_PORTS = 1 << 16


@dataclass(frozen=True)
class Address:
    """Where metrics are served; port 0 is any that is free."""

    port: int
    host: str = _HOST


def address_of(text: str) -> Address:
    """`9464`, of this machine alone, or `0.0.0.0:9464`; a usage error for what is neither."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) >= _PORTS:
        what = f"{text!r} is no port: write 9464, or 0.0.0.0:9464 for other machines too"
        raise typer.BadParameter(what, param_hint="--metrics")
    return Address(int(port), host.strip("[]") or _HOST)


@contextmanager
def serving(address: Address, say: Callable[[str], None]) -> Iterator[Callable[[Report], None]]:
    """A function that takes in reports, whose figures are served meanwhile."""
    try:
        from prometheus_client import start_http_server

        from penstock.cli.metrics.meters import Meters
    except ImportError:
        raise SetupError("--metrics needs the package prometheus-client", hint=_HINT) from None
    meters = Meters()
    try:
        server, thread = start_http_server(address.port, address.host, meters.registry)
    except OSError as error:
        message = f"cannot serve metrics at {address.host}:{address.port}: {error.strerror}"
        raise UsageError(message, hint="give another port: --metrics 9465") from None
    try:
        say(f"metrics at http://{address.host}:{server.server_port}/metrics")
        yield meters
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
