"""Address: each tuple goes to one partition of every space that keeps it, with all of its key."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.routes.address import address
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.columns import TS, hash_name
from penstock.engine.rows.layout import Layout
from penstock.engine.wire.packets import unpack_rows
from penstock.engine.wire.tags import Tag
from penstock.plan.default_plan import default_plan
from support.plans.plan_queries import chain3


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_tuples_go_to_every_space_once_and_keys_stay_together(partitions: int) -> None:
    query = chain3()
    layout = Layout(query)
    spaces = layout.spaces["B"]
    assert len(spaces) == 2
    rng = np.random.default_rng(partitions)
    keys = {hash_name(space): pa.array(rng.integers(0, 9, 200)) for space in spaces}
    rows = pa.RecordBatch.from_pydict({TS: pa.array(np.arange(200)), **keys})
    sent = list(address(layout, routing_of(default_plan(query), layout), partitions, "B", rows))
    kept = [packet for packet in sent if packet.tag == Tag("new", "B")]
    assert {packet.pid // partitions for packet in kept} == set(spaces)
    for space in spaces:
        homes: dict[int, set[int]] = defaultdict(set)
        times: list[int] = []
        for packet in kept:
            if packet.pid // partitions == space:
                found = unpack_rows([packet])
                assert found is not None
                times += found.column(TS).to_pylist()
                for key in found.column(hash_name(space)).to_pylist():
                    homes[key].add(packet.pid)
        assert sorted(times) == list(range(200))
        assert all(len(places) == 1 for places in homes.values())


def test_no_tuples_are_no_packets() -> None:
    query = chain3()
    layout = Layout(query)
    rows = pa.RecordBatch.from_pydict({TS: pa.array([], pa.int64())})
    assert list(address(layout, routing_of(default_plan(query), layout), 2, "B", rows)) == []
