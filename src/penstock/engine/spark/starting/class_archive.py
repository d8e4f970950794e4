"""The archive of Spark's classes, by which the JVM starts in half the time.

Without one, it reads, checks and links ten thousand classes at every start. The archive is made by
`penstock warm`, in the user's cache. The JVM passes it over by itself where it does not fit:
another Java, other jars, a much larger heap.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from subprocess import TimeoutExpired

import pyspark
from pyspark import SparkContext

# It must not say on the screen why it passes an archive over, nor what it leaves out of one.
_QUIET = "-Xlog:cds*=off -Xlog:class+path*=off"
_READS = "SharedArchiveFile"
_LONGEST_END = 300.0
"""Seconds in which a JVM that writes an archive ends, on a slow disk too."""


def archive_path() -> Path:
    """Where the archive for this Spark and the Java of JAVA_HOME is, or would be: another one once
    Spark has been installed anew, for the JVM passes over what is of other jars, without a word."""
    place = "\n".join((os.environ.get("JAVA_HOME", ""), pyspark.__version__, pyspark.__file__))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "penstock" / f"spark-{_short(place)}-{_short(_installed())}.jsa"


def forget_others(archive: Path) -> None:
    """Delete the archives of what was installed in this place before: they are large."""
    place = archive.name.rpartition("-")[0]
    for each in archive.parent.glob(f"{place}*.jsa"):
        if each != archive:
            each.unlink(missing_ok=True)


def _installed() -> str:
    """When the jars of this Spark were written."""
    jars = Path(pyspark.__file__).parent.glob("jars/*.jar")
    return str(max((each.stat().st_mtime_ns for each in jars), default=0))


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def reading_options(archive: Path) -> str:
    """The JVM's options to start by an archive; none where it is not there, or not ours alone."""
    try:
        found = archive.stat()
    except OSError:
        return ""
    is_ours = found.st_uid == os.getuid() and not found.st_mode & 0o022
    return f"{_option(_READS, archive)} {_QUIET}" if is_ours else ""


def reads_archive(options: str) -> bool:
    """Whether a JVM with these options starts by an archive."""
    return _READS in options


def writing_options(archive: Path) -> str:
    """The JVM's options to write an archive of the classes that it has used, when it ends."""
    return f"{_option('ArchiveClassesAtExit', archive)} {_QUIET}"


def _option(name: str, archive: Path) -> str:
    text = f"-XX:{name}={archive}"
    return f'"{text}"' if " " in text else text


def end_calmly() -> None:
    """Let the JVM of this process end by itself, and wait for that."""
    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if gateway is None or process is None:
        return
    gateway.shutdown()
    process.stdin.close()
    try:
        process.wait(_LONGEST_END)
    except TimeoutExpired:
        process.kill()
    SparkContext._gateway = SparkContext._jvm = None
