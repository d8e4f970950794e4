"""Task times: how long a task works, without what it waits for and without who takes its work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter, thread_time

from penstock.engine.wire.facts import TaskTime
from penstock.engine.wire.packets import Packet, pack_fact
from penstock.kernels.compiled import compile_seconds

Work = Callable[[Iterable[Packet]], Iterator[Packet]]


def timed(stage: str, work: Work, packets: Iterable[Packet]) -> Iterator[Packet]:
    """The packets that work makes of others, and after them the time that it took.

    Waiting for a packet to arrive is not work, but unpacking one takes a processor's time, and so
    does sending one. The processor's clock is read twice only: that may be a slow call.
    """
    used, compiled = thread_time(), compile_seconds()
    arriving = _Arriving(iter(packets))
    made = work(arriving)
    seconds = 0.0
    while True:
        started = perf_counter()
        packet = next(made, None)
        seconds += perf_counter() - started
        if packet is None:
            break
        yield packet
    took = max(seconds - arriving.seconds, 0.0)
    compiling = compile_seconds() - compiled
    yield pack_fact(0, TaskTime(stage, took, thread_time() - used, compiling))


class _Arriving:
    """Packets as they arrive, and the seconds that were spent on waiting for them."""

    def __init__(self, packets: Iterator[Packet]):
        self._packets = packets
        self.seconds = 0.0

    def __iter__(self) -> Iterator[Packet]:
        return self

    def __next__(self) -> Packet:
        started = perf_counter()
        try:
            return next(self._packets)
        finally:
            self.seconds += perf_counter() - started
