"""The files of a scenario: the same tuples on every machine and in every run."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa

from penstock.bench.data import ensure_folder, write_file
from penstock.bench.drift.streams.scenario import Flow, Scenario
from penstock.duration import MICROS


def ensure_files(scenario: Scenario, root: Path) -> Path:
    """The folder of a scenario's files below `root`; they are made where they are missing."""
    name = f"drift-{scenario.name}-{_digest(scenario)}"
    return ensure_folder(root / name, lambda draft: _write(scenario, draft))


def tuples_of(scenario: Scenario, name: str, flow: Flow, batch: int) -> pa.Table:
    """The tuples of a stream in one batch; ordered by time, as they would arrive."""
    stream = list(scenario.windows).index(name)
    rng = np.random.default_rng([scenario.seed, stream, batch])
    count = int(rng.poisson(flow.rate * scenario.step))
    length = round(scenario.step * MICROS)
    times = np.sort(rng.integers(batch * length, (batch + 1) * length, count))
    columns = {column: keys.draw(rng, count) for column, keys in flow.columns.items()}
    ids = np.arange(count) + (batch << 32)
    return pa.table({"ts": pa.array(times, pa.timestamp("us", tz="UTC")), **columns, "id": ids})


def _write(scenario: Scenario, folder: Path) -> None:
    for name in scenario.windows:
        (folder / name).mkdir(parents=True)
    for batch, regime in enumerate(scenario.regimes()):
        for name, flow in regime.items():
            write_file(tuples_of(scenario, name, flow, batch), folder / name, batch)


def _digest(scenario: Scenario) -> str:
    """A name of all that the tuples depend on, so that data of another size is not taken."""
    return hashlib.sha256(repr(scenario).encode()).hexdigest()[:12]
