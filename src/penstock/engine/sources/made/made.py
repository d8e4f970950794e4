"""Streams that are made up, whatever makes them: tuples in numbered blocks of event time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from penstock.engine.sources.made.nexmark import Nexmark
from penstock.engine.sources.made.synthetic import Synthetic
from penstock.query.source import Source


class Made(Protocol):
    """A generator of tuples, of which any worker can make any block, and make it again."""

    @property
    def rate(self) -> Fraction:
        """Tuples/s of event time."""

    @property
    def block_micros(self) -> int:
        """The length of a block, microseconds."""

    @property
    def blocks(self) -> int | None:
        """How many blocks there are; None if the stream is endless."""

    def blocks_by(self, elapsed_seconds: float) -> int:
        """How many blocks are over when that much time has passed since the start."""

    def generate(
        self, first: int, last: int, columns: Collection[str]
    ) -> Iterator[tuple[pa.RecordBatch, np.ndarray[Any, np.dtype[np.int64]]]]:
        """The tuples of the blocks from `first` up to but not `last`, with arrival numbers."""


def made_of(source: Source) -> Made:
    """The generator that a source describes; SourceError if it describes none."""
    return Nexmark.of(source) if source.format == "nexmark" else Synthetic.of(source)
