"""An experiment: everything that the sources hold, run through the laboratory into a sink."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import assert_never

import numpy as np
import pyarrow as pa

from penstock.engine.expressions.arrow_types import schema_of
from penstock.engine.places.file_names import new_mark
from penstock.engine.places.place import Place
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.sinks.publish import (
    as_parts,
    clean,
    prepare,
    print_results,
    publish,
    staging_of,
    writer_to,
)
from penstock.engine.sinks.sink import PartWriter, Sink
from penstock.engine.sources.feed import Feed, clock_now, refuse_sources_of_spark
from penstock.engine.sources.read_slice import Arrivals, read_slice
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.errors import PlanError
from penstock.lab.clock import Clock, RealClock
from penstock.lab.laboratory import Outcome, run
from penstock.lab.schedule import Mode
from penstock.lab.view_experiment import refuse_view, run_view_experiment
from penstock.plan.mesh import Eddy, MeshJoin, attributes_of
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin
from penstock.query import Query
from penstock.query.query import Input

_LOG = logging.getLogger(__name__)
_FEW = 64
"""Tuples of each input that are run for nothing: the first run in a process compiles its loops, for
longer than it then takes."""
_NO_MORE: Mapping[str, Collection[str]] = MappingProxyType({})


def run_experiment(
    plan: Plan,
    sink: Sink,
    mode: Mode,
    *,
    expiration: int = 0,
    clock: Clock,
    buckets: Mapping[str, int] | None = None,
    by_bucket: bool = False,
    overwrite: bool = False,
) -> Outcome:
    """Run a plan over all there is, eagerly or lazily, and write its results.

    A tuple is late if an earlier one of its stream is later by more than the lateness. Nothing is
    kept for a later run. Where time is measured, a few tuples are run first.
    """

    def execute(tuples: Mapping[str, pa.Table]) -> Outcome:
        if plan.query.view is not None:
            return run_view_experiment(plan, tuples, clock)
        return run(plan, tuples, mode, expiration, clock, buckets, by_bucket)

    if plan.query.outer is not None:
        name = plan.query.outer.name
        raise PlanError(f"the laboratory does not run {name}", hint="run it in batches")
    for item in plan.query.inputs:
        if item.is_relation:
            name = f"{item.alias} as it is at the time of a tuple"
            raise PlanError(f"the laboratory does not read {name}", hint="run it in batches")
    if plan.query.view is not None:
        refuse_view(plan, mode, clock)
    mark = new_mark()
    prepare(sink, mark, plan.query, is_new=True, overwrite=overwrite)
    tuples = read_all(plan.query, contents_of(plan))
    if isinstance(clock, RealClock):
        execute({alias: rows.slice(0, _FEW) for alias, rows in tuples.items()})
    outcome = execute(tuples)
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        staging = staging_of(sink, Store(Place.of(folder)), mark)
        writer = PartWriter(staging, plan.query)
        for rows in outcome.results.to_batches():
            writer.write(rows)
        parts = as_parts(sink, mark, 0, list(writer.close()))
        if sink.kind == "console":
            print_results(staging, parts)
        topic = writer_to(sink, staging, mark)
        positions = {} if topic is None else topic.positions()
        publish(sink, Manifest(batch=0, parts=parts, sink_positions=positions), staging, topic)
        clean(staging)
    return outcome


def contents_of(plan: Plan) -> Mapping[str, Collection[str]]:
    """The columns by which tuples of each stream are sent on their way: an eddy may use all."""
    match plan:
        case MeshJoin():
            return {mesh.driver: attributes_of(mesh) for mesh in plan.meshes}
        case Eddy():
            return {i.alias: i.source.telling for i in plan.query.streams}
        case MultiwayJoin() | TreeJoin():
            return {}
        case _:
            assert_never(plan)


def read_all(
    query: Query, also: Mapping[str, Collection[str]] = _NO_MORE
) -> Mapping[str, pa.Table]:
    """The tuples of each input, late ones dropped, with the columns that the query reads and those
    that are wanted `also`."""
    refuse_sources_of_spark(query.sources.values())
    layout = Layout(query)
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        store = Store(Place.of(folder))
        # All there is gets read at once: no table changes meanwhile.
        feed = Feed([replace(s, refresh=None) for s in query.sources.values()], store)
        feed.freeze()
        end = feed.everything()
        slices = feed.slices(feed.start(), end, clock_now())
    tables = {}
    for item in query.inputs:
        wanted = {*layout.reads(item.alias), *also.get(item.alias, ())}
        columns = tuple(f.name for f in item.source.fields if f.name in wanted)
        blocks = [
            block
            for piece in slices
            if piece.source == item.source.name
            for block in read_slice(item.source, columns, piece)
        ]
        tables[item.alias] = _on_time(item, columns, blocks)
        _warn(item, blocks, sum(len(block.rows) for block in blocks) - len(tables[item.alias]))
    return tables


def _warn(item: Input, blocks: list[Arrivals], late: int) -> None:
    """Tell what of an input is not among its tuples; malformed rows are kept nowhere."""
    for block in blocks:
        if block.unreadable is not None:
            _LOG.warning("%s: dropped a file: %s", item.alias, block.unreadable)
    counts = {"late": late, "malformed": sum(block.malformed for block in blocks)}
    gone = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    if gone:
        _LOG.warning("%s: dropped %s", item.alias, gone)


def _on_time(item: Input, columns: tuple[str, ...], blocks: list[Arrivals]) -> pa.Table:
    schema = schema_of(f for f in item.source.fields if f.name in columns)
    rows = pa.Table.from_batches([block.rows.select(schema.names) for block in blocks], schema)
    empty = np.empty(0, np.int64)
    times = np.concatenate([empty, *(block.times for block in blocks)])
    numbers = np.concatenate([empty, *(block.numbers for block in blocks)])
    rows = rows.append_column(TS, pa.array(times)).append_column(ARRIVAL, pa.array(numbers))
    earlier = np.concatenate([[-FOREVER], np.maximum.accumulate(times)[:-1]])[: len(times)]
    is_late = times < earlier - item.source.lateness
    return rows.filter(pa.array(~is_late)) if is_late.any() and not item.is_table else rows
