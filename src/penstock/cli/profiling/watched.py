"""One run of `penstock run` in a process of its own, watched from its start to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from penstock.cli.profiling.sampler import Sampler
from penstock.cli.profiling.stacks import Stack, read_stacks
from penstock.cli.profiling.usage import Usage, UsageMeter, psutil
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.engine.reports.report import Report
    from penstock.engine.reports.run_head import RunHead
    from penstock.engine.state.store import Store

_PENSTOCK = "from penstock.cli.main import main; main()"
_PACE = 0.02
# Seconds in which processes that outlive the run may still say something.
_LAST_WORDS = 10.0
_SAMPLERS_WORD = "py-spy>"


@dataclass(frozen=True)
class Watched:
    """A run that has ended. Times are seconds since the epoch.

    `began` is when its process was started, `announced` when it knew what it was to do, `ended`
    when its process was gone.
    """

    began: float
    announced: float
    ended: float
    head: RunHead
    reports: Sequence[Report]
    usage: Usage
    stacks: Sequence[Stack]


def watch_run(
    arguments: Sequence[str], checkpoint: str, sampler: Sampler, rate: int, scratch: Path
) -> Watched:
    """Start `penstock run` with some arguments, and watch it until it ends."""
    from penstock.engine.places.place import Place
    from penstock.engine.reports.reading import read_reports
    from penstock.engine.state.store import Store

    sampled = scratch / "stacks"
    run = [sys.executable, "-c", _PENSTOCK, "run", *arguments]
    command = sampler.command(run, rate, sampled)
    store = Store(Place.of(checkpoint))
    began = time.time()
    with _started(command) as child:
        driver = _driver(child, sampler)
        meter = UsageMeter(driver, child.pid if sampler.path else None)
        with _interrupted(driver):
            announced, ended = _await(driver, store)
        usage = meter.end()
        child.wait()
    head = _head(store, driver)
    if head is None or head.error is not None or announced is None:
        raise PenstockError("the run failed, so there is nothing to show", hint=_hint(head))
    reports = [each for each in read_reports(checkpoint) if each.batch >= head.batch]
    stacks = read_stacks(sampled) if sampled.exists() else []
    return Watched(began, announced, ended, head, reports, usage, stacks)


def _hint(head: RunHead | None) -> str:
    return "see its message above" if head is None or head.error is None else head.error


@contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process whose words go to stderr. It has a session of its own, so that Ctrl-C does not end
    py-spy, which would kill the run."""
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    telling = Thread(target=_tell, args=(child,), daemon=True)
    telling.start()
    try:
        yield child
    finally:
        if child.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        telling.join(_LAST_WORDS)


def _tell(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None, "it is piped"
    with child.stdout as said:
        for line in said:
            if line.strip() and not line.startswith(_SAMPLERS_WORD):
                sys.stderr.write(line)
                sys.stderr.flush()


def _driver(child: subprocess.Popen[str], sampler: Sampler) -> int:
    """The number of the process that runs the query: what was started, or what that has started."""
    if sampler.path is None:
        return child.pid
    library = psutil()
    while child.poll() is None:
        with suppress(library.Error):
            for process in library.Process(child.pid).children():
                return int(process.pid)
        time.sleep(_PACE)
    raise PenstockError("py-spy did not start the run", hint="see its message above")


@contextmanager
def _interrupted(driver: int) -> Iterator[None]:
    """Pass Ctrl-C on to the run, which ends after its batch."""

    def pass_on(*_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(driver, signal.SIGINT)

    before = signal.signal(signal.SIGINT, pass_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _await(driver: int, store: Store) -> tuple[float | None, float]:
    """When the run was announced, and when its process ended."""
    library, announced = psutil(), None
    while _is_alive(library, driver):
        if announced is None and (head := _head(store, driver)) is not None:
            announced = head.started_at
        time.sleep(_PACE)
    ended = time.time()
    if announced is None and (head := _head(store, driver)) is not None:
        announced = head.started_at
    return announced, ended


def _head(store: Store, driver: int) -> RunHead | None:
    """What the run of a process has told of itself."""
    from penstock.engine.reports.run_head import read_head

    head = read_head(store)
    return head if head is not None and head.process == driver else None


def _is_alive(library: Any, number: int) -> bool:
    try:
        return bool(library.Process(number).status() != library.STATUS_ZOMBIE)
    except library.Error:
        return False
