"""The checkup of a machine: what Penstock needs, and whether it is there."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import ModuleType

from penstock import kernels
from penstock.engine.spark.java import INSTALL_HINT, OLDEST, all_javas, find_java
from penstock.lab import kernels as lab_kernels

GIB = 1 << 30
LEAST_DISK = 1 * GIB
# Spark's driver takes 1 GiB by default, and every Python worker some hundred MiB.
LEAST_MEMORY = 2 * GIB
SPARK = "4.3."
OLDEST_PYTHON = (3, 11)


class Status(StrEnum):
    """An error keeps Penstock from running; a warning may only hurt."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """One thing looked at, what was found, and how to mend it where that is needed."""

    name: str
    status: Status
    found: str
    mend: str | None = None


def checkup() -> Iterator[Finding]:
    """All findings, the most basic first."""
    yield python()
    yield java()
    yield package("pyspark", SPARK)
    yield worker()
    for name in ("pyarrow", "numpy", "numba"):
        yield package(name)
    yield numba_cache()
    yield disk("temporary files", Path(tempfile.gettempdir()))
    yield disk("working directory", Path.cwd())
    yield memory()
    yield Finding("cores", Status.OK, str(_cores()))


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    """Python 3.11 or newer."""
    found = f"{'.'.join(map(str, version))} ({sys.executable})"
    if version >= OLDEST_PYTHON:
        return Finding("Python", Status.OK, found)
    return Finding("Python", Status.ERROR, found, "make a virtual environment with Python 3.11+")


def java() -> Finding:
    """A Java that can start Spark."""
    best = find_java()
    if best is None:
        old = next(all_javas(), None)
        found = f"{old.version} ({old.path}), older than {OLDEST}" if old else "none"
        return Finding("Java", Status.ERROR, found, INSTALL_HINT)
    found = f"{best.version} ({best.path}, from {best.origin})"
    home = os.environ.get("JAVA_HOME")
    if home and best.origin != "JAVA_HOME":
        mend = "unset JAVA_HOME, or set it to a Java that runs"
        return Finding("Java", Status.WARNING, f"{found}; not JAVA_HOME={home}", mend)
    return Finding("Java", Status.OK, found)


def package(name: str, tested: str = "") -> Finding:
    """A package that imports, in a version that starts as the tested one does."""
    try:
        found = str(importlib.import_module(name).__version__)
    except ImportError as error:
        return Finding(name, Status.ERROR, str(error), "pip install --upgrade penstock")
    if found.startswith(tested):
        return Finding(name, Status.OK, found)
    mend = f"pip install '{name}=={tested}*', the version that Penstock is tested with"
    return Finding(name, Status.WARNING, found, mend)


def worker() -> Finding:
    """The interpreter of Spark's Python workers: the same minor version, with Penstock in it."""
    wanted = os.environ.get("PYSPARK_PYTHON")
    if wanted is None:
        return Finding("worker interpreter", Status.OK, sys.executable)
    mend = f"unset PYSPARK_PYTHON, or set it to {sys.executable}"
    answer, here = _ask_interpreter(wanted), "{}.{}".format(*sys.version_info)
    found = f"PYSPARK_PYTHON={wanted}"
    match answer:
        case None:
            found += " does not run, or cannot import penstock"
            return Finding("worker interpreter", Status.ERROR, found, mend)
        case (version, _) if version != here:
            found += f" is Python {version}, not {here}"
            return Finding("worker interpreter", Status.ERROR, found, mend)
        case (_, prefix) if prefix != sys.prefix:
            found += f" is of another environment than {sys.executable}"
            return Finding("worker interpreter", Status.WARNING, found, mend)
    return Finding("worker interpreter", Status.OK, found)


def numba_cache() -> Finding:
    """A place where compiled kernels can be kept between runs."""
    configured = os.environ.get("NUMBA_CACHE_DIR")
    paths = [Path(configured)] if configured else [*map(_cache_of, (kernels, lab_kernels))]
    locked = ", ".join(str(path) for path in paths if not _is_writable(path))
    if not locked:
        return Finding("Numba cache", Status.OK, ", ".join(map(str, paths)))
    mend = "set NUMBA_CACHE_DIR to a writable directory; without it every start compiles again"
    return Finding("Numba cache", Status.WARNING, f"{locked} is not writable", mend)


def _cache_of(room: ModuleType) -> Path:
    """The folder in which Numba keeps what it compiled of a room, beside its modules."""
    return Path(str(room.__file__)).parent / "__pycache__"


def disk(name: str, path: Path, least: int = LEAST_DISK) -> Finding:
    """Enough free space for state and results, in bytes."""
    free = shutil.disk_usage(path).free
    found = f"{free / GIB:.1f} GiB free ({path})"
    if free >= least:
        return Finding(name, Status.OK, found)
    return Finding(name, Status.WARNING, found, f"free {least / GIB:.0f} GiB there")


def memory(least: int = LEAST_MEMORY) -> Finding:
    """Enough memory for the JVM and the workers, in bytes."""
    total = _memory()
    found = f"{total / GIB:.1f} GiB"
    if total >= least:
        return Finding("memory", Status.OK, found)
    return Finding("memory", Status.WARNING, found, f"give it {least / GIB:.0f} GiB or more")


def _memory() -> int:
    """The machine's memory, or what a container allows of it."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = Path("/sys/fs/cgroup/memory.max")
    allowed = limit.read_text().strip() if limit.is_file() else ""
    return min(total, int(allowed)) if allowed.isdigit() else total


def _cores() -> int:
    """The cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ask_interpreter(interpreter: str) -> tuple[str, str] | None:
    """The minor version and the environment of an interpreter that can import Penstock."""
    probe = "import sys, penstock; print('%d.%d' % sys.version_info[:2], sys.prefix, sep='\\n')"
    command = [interpreter, "-c", probe]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    version, prefix = done.stdout.splitlines()[:2]
    return version, prefix


def _is_writable(path: Path) -> bool:
    """Whether the directory, or the nearest one above it that exists, can be written to."""
    nearest = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)
