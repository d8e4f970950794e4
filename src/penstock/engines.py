"""The names of the engines, and the one place where they are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

from penstock.errors import UsageError

BatchEngine = Literal["spark", "local"]
"""An engine that runs batches over a checkpoint: on Spark, or in one process."""

EngineName = Literal[BatchEngine, "laboratory"]
"""Where a plan runs: in Spark's batches, in the same batches in one process, or tuple by tuple."""

BATCH_ENGINES: tuple[BatchEngine, ...] = get_args(BatchEngine)
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

Name = TypeVar("Name", bound=str)


def as_engine(given: object, among: Sequence[Name]) -> Name:
    """The engine of that name, one of those that come into question."""
    for name in among:
        if name == given:
            return name
    raise UsageError(f"no engine {given!r}", hint=f"there are {', '.join(among)}")
