"""The library that reads and writes Avro, which need not be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import SourceError

if TYPE_CHECKING:
    from types import ModuleType


def library() -> ModuleType:
    """The Avro library; an error with the command that installs it where it is missing."""
    try:
        import fastavro
    except ImportError:
        raise SourceError(
            "reading Avro needs fastavro, which is not installed",
            hint="python -m pip install 'penstock[kafka]'",
        ) from None
    module: ModuleType = fastavro
    return module
