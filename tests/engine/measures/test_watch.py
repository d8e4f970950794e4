"""The watch: seconds by phase, of what was waited for and of what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

import pytest

from penstock.engine.measures import task_time, trigger_wait, watch
from penstock.engine.measures.phases import phases_of_job
from penstock.engine.measures.task_time import timed
from penstock.engine.measures.trigger_wait import TriggerWait
from penstock.engine.measures.watch import Watch
from penstock.engine.sources.feed import Serving
from penstock.engine.wire.facts import Drain, Fact, Shed, TaskTime
from penstock.engine.wire.packets import Packet, pack_fact, unpack_facts

TIMES = [TaskTime("pack", 1.0, 0.5), TaskTime("pack", 3.0, 0.5), TaskTime("round 0", 2.0, 1.0)]


class Clock:
    """A clock that somebody moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(task_time, "perf_counter", made)
    monkeypatch.setattr(task_time, "thread_time", made)
    for module in (watch, trigger_wait):
        monkeypatch.setattr(module.time, "monotonic", made)
        monkeypatch.setattr(module.time, "time", made)
    return made


def test_a_task_is_timed_while_it_works(clock: Clock) -> None:
    def arriving() -> Iterator[Packet]:
        for number in range(3):
            clock.now += 10.0
            yield pack_fact(number, Shed("A", number))

    def work(packets: Iterable[Packet]) -> Iterator[Packet]:
        for packet in packets:
            clock.now += 1.0
            yield packet
        clock.now += 0.5

    made = []
    for packet in timed("pack", work, arriving()):
        clock.now += 100.0
        made.append(packet)
    *others, told = unpack_facts(made)
    assert others == [Shed("A", number) for number in range(3)]
    assert isinstance(told, TaskTime)
    assert (told.stage, told.seconds) == ("pack", 3.5)


def test_one_after_another_tasks_add_up() -> None:
    assert phases_of_job(TIMES, 7.0, is_parallel=False) == {"pack": 4.0, "round 0": 2.0}


def test_side_by_side_the_longest_counts_and_the_rest_is_sparks() -> None:
    phases = phases_of_job(TIMES, 7.0, is_parallel=True)
    assert phases == {"pack": 3.0, "round 0": 2.0, "spark": 2.0}
    assert phases_of_job(TIMES, 4.0, is_parallel=True)["spark"] == 0.0


def test_a_rebuild_is_one_phase() -> None:
    assert phases_of_job([TaskTime("rebuild", 1.0, 1.0)] * 2, 5.0, True) == {"rebuild": 5.0}


def test_looks_that_find_nothing_are_part_of_the_wait(clock: Clock) -> None:
    made, looks = Watch(), count()

    def serve() -> Serving | None:
        clock.now += 1.0
        return Serving((), {}, 77.0) if next(looks) == 2 else None

    while made.feed(serve) is None:
        clock.now += 5.0
    assert made.phases == {"wait": 12.0, "feed": 1.0}
    assert made.oldest == 77.0


def test_rest_lasts_until_the_batch_begins(clock: Clock) -> None:
    made = Watch()
    made.rest()
    clock.now += 3.0
    made.rest()
    clock.now += 1.0
    made.begin()
    clock.now += 1.0
    made.begin()
    assert made.phases == {"wait": 4.0}
    assert made.next_batch().phases == {}


def test_jobs_of_a_batch_add_up(clock: Clock) -> None:
    made = Watch(is_parallel=True)

    def run(job: str) -> list[Fact]:
        clock.now += 7.0
        return [*TIMES, Drain()] if job == "batch" else [TaskTime("rebuild", 1.0, 0.25)]

    counted = made.over(run)
    assert not counted("rebuild")
    assert [*counted("batch")] == [Drain()], "nobody else needs the times"
    assert made.phases == {"rebuild": 7.0, "pack": 3.0, "round 0": 2.0, "spark": 2.0}
    assert made.cpu == 2.25


def test_spark_waits_for_the_next_multiple_of_its_trigger(clock: Clock) -> None:
    trigger = TriggerWait(10.0)
    clock.now = 101.0
    assert trigger.begin() == 0.0
    clock.now = 104.0
    trigger.end()
    clock.now = 111.0
    assert trigger.begin() == 6.0
    clock.now = 135.0
    trigger.end()
    clock.now = 136.0
    assert trigger.begin() == 0.0


def test_without_a_trigger_nothing_is_waited_for(clock: Clock) -> None:
    trigger = TriggerWait(0.0)
    for _ in range(3):
        assert trigger.begin() == 0.0
        clock.now += 1.0
        trigger.end()
        clock.now += 1.0
