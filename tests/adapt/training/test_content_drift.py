"""A run whose mesh is trained while it runs, and again when the kinds of tuples swap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.adapt.planning.identity import identity
from penstock.adapt.training.trainer import Trainer
from penstock.adapt.training.training_log import load_training
from penstock.engine.control.order import Order
from penstock.engine.join.sampling import Draw
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.wire.facts import Fact
from penstock.plan.default_plan import default_plan
from penstock.plan.mesh import MeshJoin
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training
from support.adapt.sectors import mesh_by, sector_query, tuples
from support.engines.runs import Place

BATCHES, SWAP, ROWS = 12, 6, 900


class Retraining:
    """A supervisor that follows whatever mesh new training makes, by declared costs alone."""

    def __init__(self, query: Query, place: Place):
        self.trainer = Trainer(query, store=place.store)
        self.training: dict[str, Training] = {}
        self.next: MeshJoin | None = None
        self.stale: list[int] = []
        self.followed: dict[int, str] = {}

    def next_plan(self, running: Plan, number: int) -> Plan | None:
        made, self.next = self.next, None
        if made is None:
            return None
        self.followed[number] = identity(made)
        return replace(made, query=replace(made.query, inputs=running.query.inputs))

    def samples(self, number: int) -> Mapping[str, Draw]:
        return self.trainer.samples()

    def observe(self, report: Report, facts: Sequence[Fact], plan: Plan) -> Report:
        if self.trainer.observe(report.operators, facts, plan, self.training) is not None:
            self.stale.append(report.batch)
        if self.trainer.wants_plan:
            self.training = dict(self.trainer.training(Statistics(sector_query()))[0])
            self.next = mesh_by(self.training)
        return report

    def obey(self, order: Order) -> str:
        return ""

    def close(self) -> None:
        self.trainer.close()


def write(folder: Path) -> int:
    """The files of a run; how many tuples pass all filters."""
    folder.mkdir()
    passing = 0
    for batch in range(BATCHES):
        rows = tuples(ROWS, batch, int(batch >= SWAP))
        times = pa.array(np.arange(ROWS) * 1_000 + batch * 1_000_000, pa.timestamp("us", "UTC"))
        pq.write_table(
            pa.Table.from_batches([rows.append_column("ts", times)]), folder / f"{batch:03}.parquet"
        )
        passing += int((rows.column("x").to_numpy() % 8 == 7).sum())
    return passing


def test_a_mesh_is_trained_and_replaced_while_the_query_runs(tmp_path: Path) -> None:
    passing = write(tmp_path / "s")
    query, place = sector_query(), Place(tmp_path)
    (item,) = query.inputs
    source = replace(item.source, path=str(tmp_path / "s"))
    query = replace(query, inputs=(replace(item, source=source),))
    supervisor = Retraining(query, place)
    options = RunOptions(
        sink=place.sink, checkpoint=str(place.checkpoint), supervisor=supervisor, available_now=True
    )
    run = open_run(default_plan(query), options)
    run.await_termination()
    # Two batches fill the sample; the swap is seen in the batch that brings it.
    assert supervisor.stale == [SWAP]
    assert list(supervisor.followed) == [2, SWAP + 3]
    assert len(set(supervisor.followed.values())) == 2
    assert run.last_report is not None
    assert run.last_report.total_results == passing
    assert load_training(place.store, query) == supervisor.training
