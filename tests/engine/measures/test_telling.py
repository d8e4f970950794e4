"""Facts of a task reach the driver in one piece, and those of many readers as few."""

from __future__ import annotations

from penstock.engine.measures.telling import told_together
from penstock.engine.state.frontier import Reading, after_reading
from penstock.engine.wire.facts import Fact, OperatorFlow, Shed, TaskTime, readings
from penstock.engine.wire.packets import Packet, pack_fact, unpack_facts
from penstock.engine.wire.tags import META, Tag


def reading(number: int) -> Reading:
    part = str(number % 2) if number % 3 else None
    highest = None if number == 4 else number
    return Reading("a", number, 1, 2, 0, highest, -number, part)


def told(*facts: Fact) -> list[Fact]:
    made = list(told_together(pack_fact(3, fact) for fact in facts))
    assert [packet.tag for packet in made] == [META]
    return unpack_facts(made)


def test_few_facts_are_as_they_were() -> None:
    facts: list[Fact] = [reading(1), Shed("a", 3), reading(1)]
    assert told(*facts) == facts


def test_readings_of_many_tasks_are_one_for_each_partition_of_a_source() -> None:
    many = [reading(number) for number in range(100)]
    found = told(*many, TaskTime("pack", 1.0, 1.0))
    assert len(found) == 4
    assert after_reading({}, readings(found)) == after_reading({}, many)


def test_flows_of_many_tasks_are_added_up() -> None:
    flows = [OperatorFlow("a", 0, "b", 1, 2, 3, 4.0, 0.5) for _ in range(64)]
    assert told(*flows) == [OperatorFlow("a", 0, "b", 64, 128, 192, 256.0, 32.0)]


def test_queries_that_run_together_are_told_apart() -> None:
    packets = [pack_fact(0, Shed("a", 1)), pack_fact(0, Shed("a", 2))]
    mine = [Packet(each.pid, each.tag.of(n), each.data) for n, each in enumerate(packets)]
    rows = Packet(5, Tag("tally"), b"rows")
    made = list(told_together([mine[0], rows, mine[1]]))
    assert [str(packet.tag) for packet in made] == ["tally", "0|meta", "1|meta"]
    assert unpack_facts(made[1:]) == [Shed("a", 1), Shed("a", 2)]
