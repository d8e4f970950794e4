"""The Java process behind a session: whether it is still there, and what is said if it is not."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from contextlib import suppress
from functools import cache
from itertools import takewhile
from subprocess import Popen, TimeoutExpired

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from penstock.engine.places.place import Place
from penstock.engine.wire.task_errors import class_of
from penstock.errors import EngineError, PenstockError, StateError

_PRIVATE = 0o700
# A process that was killed lets go of its sockets a moment before it is seen to have ended.
_MOMENT = 2.0
_IO_ERROR = re.compile(r"java\.io\.IOException: (.*?)(?: SQLSTATE.*)?$", re.MULTILINE)
# What Spark takes to remove its temporary folders, and more.
_LONGEST_END = 10.0
_CRASH = re.compile(
    r"Python worker exited unexpectedly|Python worker process terminated|ExecutorLostFailure"
    r"|FetchFailed|worker lost"
)
_TRACE = "Traceback (most recent call last):"
_OWN = re.compile(r"penstock\.errors\.(\w+): (.*)")
_HINT = "hint: "


def log_file() -> str:
    """Where the JVMs of this user's sessions write: in a folder that no other user can write in.

    A guessable name in the temporary folder may be there already, as somebody else's link to a file
    of ours.
    """
    return os.path.join(own_folder(), "spark.log")


@cache
def own_folder() -> str:
    """The user's folder in the temporary one; a new one, if something else is in its place."""
    folder = os.path.join(tempfile.gettempdir(), f"penstock-{os.getuid()}")
    with suppress(FileExistsError):
        os.mkdir(folder, _PRIVATE)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return tempfile.mkdtemp(prefix="penstock-")
    os.chmod(folder, _PRIVATE)
    return folder


def is_running() -> bool:
    """Whether there is a Java process that answers."""
    process = _process()
    if process is not None:
        return process.poll() is None
    try:
        SparkContext._gateway.jvm.System.currentTimeMillis()
    except (Py4JError, OSError, AttributeError):
        return False
    return True


def is_lost(error: BaseException) -> bool:
    """Whether a call failed because there is no Java process any more that could answer."""
    if not isinstance(error, Py4JError | OSError) or isinstance(error, Py4JJavaError):
        return False
    process = _process()
    if process is not None:
        with suppress(TimeoutExpired):
            process.wait(_MOMENT)
    return SparkContext._gateway is not None and not is_running()


def is_lost_at_start(error: BaseException) -> bool:
    """Whether the Java process ended before it could be talked to."""
    return isinstance(error, PySparkException) and error.getCondition() == "JAVA_GATEWAY_EXITED"


def is_crash(error: BaseException) -> bool:
    """Whether a job failed because a worker or an executor ended in the middle of it."""
    is_of_spark = isinstance(error, PySparkException | Py4JJavaError)
    return is_of_spark and _CRASH.search(str(error)) is not None


def lost_error() -> EngineError:
    """The error of a query that has lost its Java process."""
    return EngineError(
        "Spark's Java process has ended in the middle of the run",
        hint="nothing is lost: run again on this checkpoint; it was killed, or ran out of memory "
        f"(Spark's log: {log_file()})",
    )


def storage_error(error: BaseException, root: Place) -> StateError | None:
    """The error of a checkpoint that Spark cannot write in, if that is what went wrong."""
    found = (
        _IO_ERROR.search(str(error)) if isinstance(error, PySparkException | Py4JError) else None
    )
    if found is None:
        return None
    return StateError(
        f"Spark cannot write in {root}: {found[1]}",
        hint="nothing is lost: mend that, then run again on this checkpoint",
    )


def reason_of(error: Exception) -> str:
    """The first words of an error, without the names of Java's classes and the trace.

    Of an error in Python's part of Spark they stand under its trace.
    """
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    traces = [number for number, line in enumerate(lines) if line.endswith(_TRACE)]
    for line in lines[traces[0] + 1 :] if traces else ():
        if not line.startswith(" "):
            return line
    java = next((line for line in lines if line.startswith(": ")), None)
    return lines[0] if java is None else re.sub(r"^: [\w.$]+(Exception|Error): ", "", java)


def own_error(error: Exception) -> PenstockError | None:
    """The error of ours that a Python process of Spark has ended with, as its trace tells it; None
    of any other."""
    lines = str(error).splitlines()
    found = [(at, each) for at, line in enumerate(lines) if (each := _OWN.fullmatch(line))]
    if not found:
        return None
    at, (kind, message) = found[-1][0], found[-1][1].groups()
    told = list(takewhile(str.strip, lines[at + 1 :]))
    hint = next((line.removeprefix(_HINT) for line in told if line.startswith(_HINT)), None)
    return class_of(kind)(message, hint=hint)


def end_process() -> None:
    """End the Java process that this one has started, without asking Spark."""
    process = _process()
    if process is not None:
        process.terminate()
        try:
            process.wait(_LONGEST_END)
        except TimeoutExpired:
            process.kill()


def _process() -> Popen[bytes] | None:
    """The Java process, if this one has started it."""
    process: Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    return process
