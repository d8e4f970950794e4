"""An S3 server on this machine: moto, in an environment of its own (`make moto`)."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from pyarrow import fs

ROOT = Path(__file__).parents[3]
_REQUEST = re.compile(r'"(?:\x1b\[\d+m)*([A-Z]+) (\S+) HTTP')


@dataclass(frozen=True)
class S3Server:
    """A running server, and the log of the requests that it has answered."""

    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def variables(self) -> dict[str, str]:
        """The environment by which it is reached."""
        return {
            "AWS_ACCESS_KEY_ID": "penstock",
            "AWS_SECRET_ACCESS_KEY": "open-sesame",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
        }

    def make_bucket(self, name: str) -> None:
        """Have a new bucket."""
        store = fs.S3FileSystem(
            access_key="penstock",
            secret_key="open-sesame",
            region="us-east-1",
            scheme="http",
            endpoint_override=f"127.0.0.1:{self.port}",
            allow_bucket_creation=True,
        )
        store.create_dir(name)

    def requests(self) -> list[tuple[str, str]]:
        """All requests so far: method, and path with what follows."""
        return [(found[1], found[2]) for found in _REQUEST.finditer(self.log.read_text())]

    def ask(self, path: str, data: bytes | None = None) -> bytes:
        """The answer of the server itself, to no store."""
        kind = {"Content-Type": "text/plain"}
        request = urllib.request.Request(f"{self.url}/{path}", data=data, headers=kind)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bytes(answer.read())


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server on a free port of the loopback, until the end; skips the test where none is."""
    python = moto_python()
    if python is None:
        pytest.skip("needs moto: make moto")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "requests"
        command = [python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        with open(log, "wb") as file:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file)
        try:
            server = S3Server(port, log)
            _wait(server, process)
            yield server
        finally:
            process.kill()
            process.wait()


def moto_python() -> str | None:
    """An interpreter that has moto; None if there is none."""
    own = ROOT / ".venv-moto" / "bin" / "python"
    if "PENSTOCK_MOTO" in os.environ:
        return os.environ["PENSTOCK_MOTO"]
    if own.exists():
        return str(own)
    return sys.executable if find_spec("moto") is not None else None


def _wait(server: S3Server, process: subprocess.Popen[bytes]) -> None:
    """Wait until it answers."""
    while True:
        try:
            server.ask("moto-api/")
            return
        except OSError:
            assert process.poll() is None, server.log.read_text()
            time.sleep(0.02)
