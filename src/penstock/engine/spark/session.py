"""A Spark session that suits Penstock, for those who do not bring their own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from penstock.engine.java import ensure_java
from penstock.engine.spark.warm_up import warm_up
from penstock.errors import SetupError

# On one machine the JVM only keeps the books while Python works on the same cores: its optimising
# compiler costs more than it gains, and so does packing what never leaves the machine.
_ONE_MACHINE = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.shuffle.compress": "false",
}


_LONGEST_LOG = 10 << 20


def make_session(
    master: str | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A quiet, warm session: no UI, no progress bars, workers with this interpreter.

    What the JVM has to say goes to a log file in the temporary folder.
    """
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    where = master or "local[*]"
    chosen = {
        "spark.app.name": "penstock",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "2g",
        "spark.driver.host": "localhost",
        "spark.python.daemon.module": "penstock.engine.spark.daemon",
        "spark.log.level": "ERROR",
        **(_ONE_MACHINE if where.startswith("local[") else {}),
        **(settings or {}),
    }
    builder = SparkSession.builder.master(where)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    log = log_file()
    try:
        with _stderr_to(log):
            session: SparkSession = builder.getOrCreate()
    except (PySparkRuntimeError, OSError) as error:
        raise SetupError(
            f"Spark did not start: {error}", hint=f"see {log}, and try `penstock doctor`"
        ) from None
    warm_up(session)
    return session


def log_file() -> str:
    """Where the JVMs of this user's sessions write."""
    return os.path.join(tempfile.gettempdir(), f"penstock-spark-{os.getuid()}.log")


@contextmanager
def _stderr_to(path: str) -> Iterator[None]:
    """Have processes started inside write their errors to a file, which is kept from growing."""
    sys.stderr.flush()
    before = os.dup(2)
    file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
    if os.fstat(file).st_size > _LONGEST_LOG:
        os.truncate(file, 0)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(file)
