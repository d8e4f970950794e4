"""The plans of the benchmark of Nexmark, by samples of its events alone."""

from __future__ import annotations

import pytest

from penstock.api import ContinuousQuery
from penstock.bench.nexmark.data import ensure_events
from penstock.bench.nexmark.ours import planned, script
from penstock.bench.nexmark.queries import QUERIES
from penstock.bench.nexmark.rival import Data
from penstock.bench.nexmark.run import LITTLE
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan

WINNING = ("q4", "q9")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    folder = tmp_path_factory.mktemp("nexmark")
    return Data(LITTLE, ensure_events(LITTLE, folder))


def joining(name: str, data: Data) -> Plan:
    """The plan of the join of a query."""
    found = planned(script("parquet", QUERIES[name], data))
    if isinstance(found, ContinuousQuery):
        return found.decision.plan
    return found.decisions["highest"].plan


@pytest.mark.parametrize("name", WINNING)
def test_winning_bids_are_kept_as_they_come(name: str, data: Data) -> None:
    plan = joining(name, data)
    assert isinstance(plan, MultiwayJoin)
    assert plan.early == ()
    assert plan.recompute is None
