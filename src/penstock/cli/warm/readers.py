"""The inner loops that read long texts and records of topics, compiled before somebody has some."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.kernels.csvtext.plain_columns import plain_columns
from penstock.kernels.foreign import messages
from penstock.kernels.jsontext.flat_columns import flat_columns


def compile_readers() -> None:
    """Call each of them on next to nothing."""
    types = [pa.timestamp("us", tz="UTC"), pa.int64(), pa.float64(), pa.large_string()]
    line = b'{"t": "2026-01-01 00:00:00", "n": 1, "x": 0.5, "s": ""}'
    flat_columns(["t", "n", "x", "s"], types, line)
    plain_columns([0, 1, 2], types[1:], 3, ",", b"1,0.5,a\n,,", 1)
    none = np.empty(0, np.int64)
    messages.heads_of(none)
    messages.values_of(none, none)
    messages.times_of(none, 0, np.zeros(1, np.int32))
    messages.release(none, 0)
