"""A Spark session that suits Penstock, for those who do not bring their own."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from threading import Thread, current_thread, main_thread

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from penstock.engine.places.access import (
    SPARK_SETTINGS,
    settings_here,
    settings_of_spark,
    take_settings,
)
from penstock.engine.spark.data_source import register
from penstock.engine.spark.java import ensure_java
from penstock.engine.spark.jvm import (
    end_process,
    is_lost,
    is_lost_at_start,
    is_running,
    log_file,
    lost_error,
    own_folder,
    reason_of,
)
from penstock.engine.spark.starting.class_archive import (
    archive_path,
    reading_options,
    reads_archive,
)
from penstock.engine.spark.starting.warm_up import warm_up_beside
from penstock.errors import SetupError
from penstock.kernels.warm_up import warm_up as load_kernels
from penstock.light_start import LIGHT_START

# On one machine the JVM only keeps the books while Python works on the same cores: its optimising
# compiler costs more than it gains, and so does packing what never leaves the machine.
_ONE_MACHINE = {"spark.shuffle.compress": "false"}
_QUICK_JAVA = "-XX:TieredStopAtLevel=1"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_LIGHT_WORKERS = {f"spark.executorEnv.{LIGHT_START}": "true"}


# The longest folder that a socket's name may be put behind: the system knows names of 107 bytes.
_LONGEST_FOLDER = 60
# Executors on other machines must find the driver by a name that is its own.
_HERE = {"spark.driver.host": "localhost"}
# Tasks prefer the executors that have their state, but fetching that takes no seconds: whoever is
# idle for so long takes over.
_CLUSTER = {"spark.locality.wait": "300ms"}
# As often as Spark tries a task on a cluster.
_ATTEMPTS = 4
_LONGEST_LOG = 10 << 20
_LOGGER = logging.getLogger("penstock.spark")


def make_session(
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    registers: bool = True,
) -> SparkSession:
    """A quiet, warm session: no UI, no progress bars, workers with this interpreter.

    It knows the format `penstock`, unless nobody `registers` it: a run that does not read by Spark
    has no use for that, and begins sooner.
    What the JVM has to say goes to a log file in a folder of the user's own. On one machine a task
    whose worker was killed is tried again.
    """
    session, warming = _opened(master, settings or {}, registers)
    warming.join()
    return session


def _opened(
    master: str | None, settings: Mapping[str, str], registers: bool
) -> tuple[SparkSession, Thread]:
    """A session, and the thread that warms it up."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    where = _retrying(master or "local[*]")
    chosen = {
        "spark.master": where,
        "spark.app.name": "penstock",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "2g",
        "spark.python.daemon.module": "penstock.engine.spark.daemon",
        "spark.log.level": "ERROR",
        **_settings_of(where),
        **settings,
    }
    # While Java starts, this process has nothing else to do; nobody waits for that if it does not.
    Thread(target=load_kernels, daemon=True).start()
    session, warming = _started(chosen)
    if registers:
        # Spark starts a process to look for other sources, which takes as long as to warm up.
        register(session)
    return session, warming


def _started(chosen: Mapping[str, str]) -> tuple[SparkSession, Thread]:
    """The session, whose workers are started while it is made; an archive of classes by which Java
    does not start is removed."""
    log = log_file()
    try:
        with _stderr_to(log), _same_handler():
            context = SparkContext.getOrCreate(SparkConf().setAll(list(chosen.items())))
            warming = warm_up_beside(context)
            return SparkSession.builder.config(map=dict(chosen)).getOrCreate(), warming
    except (PySparkException, Py4JError, OSError) as error:
        options = chosen.get(JAVA_OPTIONS, "")
        if not is_lost_at_start(error) or not reads_archive(options):
            hint = f"see {log}, and try `penstock doctor`"
            raise SetupError(f"Spark did not start: {reason_of(error)}", hint=hint) from None
    archive_path().unlink(missing_ok=True)
    return _started({**chosen, JAVA_OPTIONS: quick_java("")})


def _settings_of(master: str) -> Mapping[str, str]:
    """The settings that are for some masters alone."""
    here = {**_HERE, **_sockets()} if master.startswith("local") else {}
    if not master.startswith("local["):
        return {**here, **_CLUSTER}
    return {**here, **_ONE_MACHINE, JAVA_OPTIONS: quick_java(reading_options(archive_path()))}


def quick_java(more: str) -> str:
    """The options of a JVM that works beside Python on the same cores, and more of them."""
    return f"{_QUICK_JAVA} {more}".rstrip()


def _sockets() -> Mapping[str, str]:
    """How Spark talks to workers on this machine: not through TCP, where its first words take
    40 ms, because each waits for the other to confirm what it has sent."""
    folder = own_folder()
    if len(os.fsencode(folder)) > _LONGEST_FOLDER:
        return {}
    name = "spark.python.unix.domain.socket"
    return {f"{name}.enabled": "true", f"{name}.dir": folder}


def _retrying(master: str) -> str:
    """The master, with tasks that are tried again: Spark does so on a cluster only, unasked."""
    cores = re.fullmatch(r"local(?:\[([^,\]]+)\])?", master)
    return master if cores is None else f"local[{cores[1] or 1},{_ATTEMPTS}]"


@contextmanager
def own_session(
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    registers: bool = True,
    is_light: bool = False,
    waits: bool = True,
) -> Iterator[SparkSession]:
    """A session as `make_session` makes it, which is stopped at the end, however that comes.

    Workers that run no code of users are `light`. Who does not wait gets the session while it is
    warming up, and starts a query beside that.
    What is to be said of a JVM that does not answer goes to the JVM's log.
    """
    _log_py4j(log_file())
    session = None
    try:
        light = _LIGHT_WORKERS if is_light else {}
        session, warming = _opened(master, {**light, **(settings or {})}, registers)
        _log_updates(session)
        if waits:
            warming.join()
        yield session
        warming.join()
    except KeyboardInterrupt:
        # Perhaps in the middle of a call, whose answer the next one would get.
        end_process()
        raise
    except BaseException as error:
        if is_lost(error):
            raise lost_error() from None
        _stop(session)
        raise
    _stop(session)


def _stop(session: SparkSession | None) -> None:
    """Stop a session; where its JVM has ended, there is nothing left to stop."""
    if session is not None and is_running():
        session.stop()


class _OwnFile(logging.FileHandler):
    """A log in a file that is not a link, and that nobody else reads."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW
        return open(os.open(self.baseFilename, flags, 0o600), "a", encoding=self.encoding)


def _log_py4j(path: str) -> None:
    """Have py4j's stack traces in a file instead of on the screen.

    They stay there: some of its threads outlive the session.
    """

    def is_py4j(record: logging.LogRecord) -> bool:
        return record.name == _LOGGER.name or "py4j" in Path(record.pathname).parts

    # Where there is no handler, Python shows warnings and worse. Ours must not change that.
    file, screen = _OwnFile(path, delay=True), logging.StreamHandler()
    file.addFilter(is_py4j)
    screen.addFilter(lambda record: not is_py4j(record))
    root = logging.getLogger()
    for handler in (file, screen) if not root.handlers else (file,):
        handler.setLevel(logging.WARNING)
        root.addHandler(handler)


def _log_updates(session: SparkSession) -> None:
    """Have PySpark's server of accumulators log what breaks off, too, instead of printing it."""
    server = session.sparkContext._accumulatorServer
    if server is not None:
        server.handle_error = lambda *_: _LOGGER.warning("cut off by the JVM", exc_info=True)


@contextmanager
def _same_handler() -> Iterator[None]:
    """Leave Ctrl-C to whoever has taken charge of it: a new SparkContext takes it over."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if current_thread() is main_thread() and before is not signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _stderr_to(path: str) -> Iterator[None]:
    """Have processes started inside write their errors to a file, which is kept from growing."""
    sys.stderr.flush()
    before = os.dup(2)
    # A link would have us write wherever it leads.
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    if os.fstat(file).st_size > _LONGEST_LOG:
        os.truncate(file, 0)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(file)


def tell_access(spark: SparkSession) -> None:
    """Reach stores as Spark was told to, or the environment, in this process and in the workers:
    these may have been started before, or elsewhere."""
    context = getattr(spark, "_sc", None)
    if context is None or context._jsc is None:
        return  # A client of Spark Connect, or what is refused later.
    # One by one: to ask for all of them is hundreds of calls.
    known = {name: context._conf.get(name) for name in SPARK_SETTINGS}
    take_settings(settings_of_spark({name: value for name, value in known.items() if value}))
    context.environment.update(settings_here())
