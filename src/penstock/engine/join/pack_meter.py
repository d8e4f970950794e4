"""The meter of packing: what a task has learned of the tuples it read, told once at its end.

A task may read thousands of small blocks, and a fact for each would cost more than it tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from penstock.engine.changes.shed_times import widened
from penstock.engine.join.key_sketches import KeyCounters
from penstock.engine.routes.meter import added_up
from penstock.engine.rows.columns import PASSES, hash_name
from penstock.engine.state.frontier import Reading, read_together
from penstock.engine.wire.facts import Fact, Filtered, KeySketch, OperatorFlow, Shed, ShedTimes


@dataclass
class PackMeter:
    """Collects what was read, shed and filtered, the flows of filters, and the keys of what passed
    them if these are wanted."""

    keys: KeyCounters | None
    flows: list[OperatorFlow] = field(default_factory=list)
    _read: dict[tuple[str, str | None], Reading] = field(default_factory=dict)
    _shed: dict[str, int] = field(default_factory=dict)
    _shed_times: dict[str, tuple[int, int]] = field(default_factory=dict)
    _filtered: dict[str, tuple[int, int]] = field(default_factory=dict)

    def take_reading(self, reading: Reading) -> None:
        """Count what was read of a source, or of a partition of it."""
        at = (reading.source, reading.part)
        known = self._read.get(at)
        self._read[at] = reading if known is None else read_together(known, reading)

    def take_shed(self, alias: str, rows: int) -> None:
        """Count tuples that the drop box of an input has taken."""
        self._shed[alias] = self._shed.get(alias, 0) + rows

    def take_shed_times(self, alias: str, first: int, last: int) -> None:
        """Note between which times tuples came to a drop box."""
        self._shed_times = widened(self._shed_times, [ShedTimes(alias, first, last)])

    def take_filtered(self, alias: str, taken: int, passed: int) -> None:
        """Count tuples that came to the filters of an input, and those that passed."""
        before = self._filtered.get(alias, (0, 0))
        self._filtered[alias] = (before[0] + taken, before[1] + passed)

    @property
    def readings(self) -> tuple[Reading | ShedTimes, ...]:
        """What was read, one for each source and partition of it, and when drop boxes were on."""
        shed = (ShedTimes(alias, *times) for alias, times in self._shed_times.items())
        return (*self._read.values(), *shed)

    @property
    def counts(self) -> tuple[Shed | Filtered, ...]:
        """What was shed and filtered, one for each input."""
        shed = (Shed(alias, rows) for alias, rows in self._shed.items())
        return (*shed, *(Filtered(alias, *each) for alias, each in self._filtered.items()))

    def take(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Keep the flows among facts; the others are to be told at once."""
        for fact in facts:
            if isinstance(fact, OperatorFlow):
                self.flows.append(fact)
            else:
                yield fact

    def take_keys(
        self, alias: str, passed: int, known: Mapping[int, int], rows: pa.RecordBatch
    ) -> None:
        """Count the keys of an input's tuples, of which `passed` met the filters; `known` of them
        have no NULL in a key class.

        Those with a NULL in any key can never be in a result, and are not among the rows.
        """
        if self.keys is None:
            return
        if PASSES in rows.schema.names:
            rows = rows.filter(rows.column(PASSES))
        for key, count in known.items():
            hashes = rows.column(hash_name(key)).to_numpy()
            self.keys.at(alias, key).take(passed, count, hashes)

    def read(self) -> Iterator[OperatorFlow | KeySketch]:
        """All that was learned."""
        yield from added_up(self.flows)
        if self.keys is not None:
            yield from self.keys.sketches()
