"""A Spark Connect server in a process of its own, which can be killed."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pyspark.find_spark_home import _find_spark_home

from penstock.engine.spark.java import ensure_java
from support.sessions.worker_python import worker_python
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "localhost",
    "spark.python.daemon.module": "penstock.engine.spark.daemon",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.log.level": "ERROR",
}


class Server:
    """A server on this machine, from the beginning to the end of a block."""

    def __init__(self, log: Path):
        ensure_java()
        self._port = _free_port()
        self._log = log

    def __enter__(self) -> Self:
        settings = {**SETTINGS, "spark.connect.grpc.binding.port": str(self._port)}
        given = [part for each in settings.items() for part in ("--conf", "=".join(each))]
        submit = [f"{_find_spark_home()}/bin/spark-submit", "--master", "local[2]"]
        with self._log.open("a") as log:
            # Spark takes it for an application that has its own jars, as it has its own sessions.
            self._process = subprocess.Popen(
                [*submit, "--class", CLASS, *given, "spark-internal"],
                env={**os.environ, "PYSPARK_PYTHON": worker_python()},
                stdout=log,
                stderr=log,
            )
        wait_until(self._answers)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"sc://127.0.0.1:{self._port}"

    def session(self) -> SparkSession:
        """A new session of a client in this process."""
        from pyspark.sql import SparkSession

        return SparkSession.builder.remote(self.url).create()

    def kill(self) -> None:
        """Kill it as it is."""
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self._port)) == 0


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])
