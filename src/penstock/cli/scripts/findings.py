"""What `penstock check` finds in scripts: mistakes, and files that are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from penstock.cql.script import declared, mistakes
from penstock.cql.script_file import decoded
from penstock.engine.places.place import Place
from penstock.engine.sources.files import list_files
from penstock.errors import PenstockError, SourceError
from penstock.query.function import Function
from penstock.query.source import FILE_FORMATS, Source


@dataclass(frozen=True)
class Finding:
    """An error keeps a script from running; a warning may be of something that comes later."""

    severity: Literal["error", "warning"]
    error: PenstockError

    def as_json(self) -> dict[str, Any]:
        """The finding for programs: line and column are counted from 1, length in characters."""
        place = self.error.place
        return {
            "severity": self.severity,
            "kind": type(self.error).__name__,
            "message": self.error.message,
            "hint": self.error.hint,
            "line": None if place is None else place.line,
            "column": None if place is None else place.column,
            "length": None if place is None else max(1, place.end - place.start),
        }


@dataclass(frozen=True)
class Checked:
    """A script's file, and what was found in it."""

    file: str
    findings: tuple[Finding, ...]

    def count(self, severity: str) -> int:
        """How many findings are as severe as that."""
        return sum(each.severity == severity for each in self.findings)

    @property
    def is_right(self) -> bool:
        """Whether the script can be run."""
        return not self.count("error")

    def as_json(self) -> dict[str, Any]:
        found = [each.as_json() for each in self.findings]
        return {"file": self.file, "ok": self.is_right, "findings": found}


def check_file(read: Callable[[], bytes], name: str, functions: Sequence[Function] = ()) -> Checked:
    """What is wrong with a script, whose bytes are read; messages call it by the name."""
    try:
        text = decoded(read, name)
    except PenstockError as error:
        return Checked(name, (Finding("error", error),))
    found = [Finding("error", error) for error in mistakes(text, name, functions)]
    missing = [Finding("warning", each) for each in _missing(declared(text, name))]
    return Checked(name, (*found, *missing))


def _missing(sources: Sequence[Source]) -> Iterator[PenstockError]:
    """Of each source of local files without any, what a run would say, or that it would wait."""
    for source in sources:
        if source.format not in FILE_FORMATS or source.path is None:
            continue
        place = source.places.get("path")
        try:
            if Place.of(source.path).is_local and not list_files(source.path, place):
                message = f"there is no file in {source.path} yet"
                yield SourceError(message, place=place, hint="a run waits for files to come")
        except PenstockError as error:
            yield error
