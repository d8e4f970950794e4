"""Processor time of all processes and threads of a run, as long as it lasts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any, Literal

from penstock.errors import SetupError

Role = Literal["driver", "workers", "JVM"]
ROLES: tuple[Role, ...] = ("driver", "workers", "JVM")

INSTALL = "python -m pip install 'penstock[profile]'"
_EVERY_SECONDS = 0.2


@dataclass
class ThreadUse:
    """Processor seconds of a thread, and its name, where the system tells it."""

    cpu: float
    name: str = ""


@dataclass
class ProcessUse:
    """Processor seconds of a process: all of it, and by thread as far as it was seen."""

    role: Role
    cpu: float = 0.0
    threads: dict[int, ThreadUse] = field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """Processor seconds while a run lasted: of its processes by their numbers, of who samples it,
    and of all that the machine did."""

    processes: Mapping[int, ProcessUse]
    sampler: float
    machine: float
    cores: int


class UsageMeter:
    """Looks at a process and all below it five times a second, until it is told to end."""

    def __init__(self, driver: int, sampler: int | None):
        self._psutil = psutil()
        self._driver, self._sampler = driver, sampler
        self._processes: dict[int, ProcessUse] = {}
        self._sampler_cpu = 0.0
        self._machine = _busy(self._psutil)
        self._is_over = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> Usage:
        """What was used since the beginning."""
        self._is_over.set()
        self._thread.join()
        machine = _busy(self._psutil) - self._machine
        cores = self._psutil.cpu_count() or 1
        return Usage(self._processes, self._sampler_cpu, machine, cores)

    def _watch(self) -> None:
        while not self._is_over.wait(_EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        """Processes may end at any moment; what they had used by then is kept."""
        with suppress(self._psutil.Error):
            driver = self._psutil.Process(self._driver)
            for process in (driver, *driver.children(recursive=True)):
                with suppress(self._psutil.Error):
                    self._read(process)
        if self._sampler is not None:
            with suppress(self._psutil.Error):
                self._sampler_cpu = _seconds(self._psutil.Process(self._sampler).cpu_times())

    def _read(self, process: Any) -> None:
        used, role = _seconds(process.cpu_times()), self._role(process)
        known = self._processes.setdefault(process.pid, ProcessUse(role))
        known.role, known.cpu = role, max(known.cpu, used)
        for thread in process.threads():
            use = known.threads.setdefault(thread.id, ThreadUse(0.0))
            use.cpu = _seconds(thread)
            if role == "JVM":
                use.name = use.name or _name(process.pid, thread.id)

    def _role(self, process: Any) -> Role:
        if process.pid == self._driver:
            return "driver"
        return "workers" if process.name().lower().startswith("python") else "JVM"


def psutil() -> Any:
    """The library that knows processes, or how to install it."""
    try:
        return import_module("psutil")
    except ImportError:
        raise SetupError("psutil counts processor time, and is missing", hint=INSTALL) from None


def _seconds(times: Any) -> float:
    if hasattr(times, "user"):
        return float(times.user + times.system)
    return float(times.user_time + times.system_time)


def _busy(library: Any) -> float:
    """Processor seconds that the machine has worked since it was started."""
    times = library.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "steal", 0.0)
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    return float(sum(times) - idle - guests)


def _name(process: int, thread: int) -> str:
    try:
        return Path(f"/proc/{process}/task/{thread}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
