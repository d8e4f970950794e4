"""Sampling: some of an input's new tuples for the driver, who trains meshes by them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.engine.sources.read_slice import Arrivals
from penstock.engine.wire.facts import InputSample
from penstock.engine.wire.packets import as_stream
from penstock.kernels.drop import sample_lots

MOST_DRAWN = 1_000
"""Tuples of one block at most, whatever part is wanted: a batch after a long pause may be a hundred
times as large as the one that the part was reckoned by."""


@dataclass(frozen=True)
class Draw:
    """What the driver wants of an input: these columns, of about such a part of its new tuples."""

    columns: tuple[str, ...]
    share: float = 1.0


def sample_of(alias: str, draw: Draw, block: Arrivals) -> InputSample | None:
    """Tuples of a block, drawn by their arrival numbers, with these and their event times.

    None if none is drawn. A replay draws the same.
    """
    chosen = pa.array(_chosen(sample_lots(alias, block.numbers), draw.share))
    if not len(chosen):
        return None
    rows = block.rows.select(_present(draw.columns, block.rows.schema.names)).take(chosen)
    rows = rows.append_column(TS, pa.array(block.times).take(chosen))
    rows = rows.append_column(ARRIVAL, pa.array(block.numbers).take(chosen))
    return InputSample(alias, len(block.numbers), as_stream(rows).to_pybytes())


def exponential_lots(alias: str, arrivals: NDArray[np.int64]) -> NDArray[np.float64]:
    """The lots of tuples, by which they are drawn, as exponentially distributed numbers.

    Divided by weights, the least of them are a weighted sample.
    """
    uniform = (sample_lots(alias, arrivals).astype(np.float64) + 0.5) / 2.0**64
    return np.asarray(-np.log1p(-np.minimum(uniform, 1.0 - 2.0**-53)))


def _chosen(lots: NDArray[np.uint64], share: float) -> NDArray[np.int64]:
    """The places of the lots below a share of all, the least ones if these are too many."""
    chosen = np.arange(len(lots))
    if share < 1.0:
        chosen = np.flatnonzero(lots < np.uint64(share * 2.0**64))
    if len(chosen) > MOST_DRAWN:
        least = np.argpartition(lots[chosen], MOST_DRAWN)[:MOST_DRAWN]
        chosen = np.sort(chosen[least])
    return chosen


def _present(wanted: Collection[str], names: Collection[str]) -> list[str]:
    """The wanted columns that were read."""
    return [name for name in wanted if name in names]
