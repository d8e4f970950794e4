"""The pipeline of a script: batch after batch, each made final for all its queries by one
manifest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from penstock.engine.control.order import Order
from penstock.engine.measures.measured import gathered
from penstock.engine.measures.watch import Watch
from penstock.engine.reports.log import ReportLog
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.run.commit import flush, forget_batch
from penstock.engine.run.given_plan import Planned
from penstock.engine.run.job import Job, Runner
from penstock.engine.run.options import REBUILT_AT_ONCE
from penstock.engine.run.pipeline import begun_batch, warn_of_files
from penstock.engine.run.supervisor import GuardedScript, ScriptSupervisor
from penstock.engine.run.tables.renewal import Load, renewed_tables
from penstock.engine.run.turn import Turns
from penstock.engine.script.derived_streams import come_to, derived_sources, levels_of
from penstock.engine.script.joint_job import JointJob, facts_of
from penstock.engine.script.joint_packing import JointPacking, shared_sources
from penstock.engine.script.leavings import (
    Gone,
    check_changes,
    refuse_closed_script,
    refuse_latecomers,
)
from penstock.engine.script.member_run import MemberRun
from penstock.engine.script.parsed_slices import TEXTS
from penstock.engine.script.script_checkpoint import ScriptCheckpoint
from penstock.engine.script.script_report import report_of_script, streams_after
from penstock.engine.script.shared_joins import taken_join, with_takers
from penstock.engine.sinks.malformed_rows import (
    clean_kept,
    prepare_keeping,
    publish_kept,
    with_rows,
)
from penstock.engine.sinks.publisher import Publisher
from penstock.engine.sinks.sink import Sink, noop
from penstock.engine.sources.derived_rows import Handover, forget_derived
from penstock.engine.sources.spool import slices_of
from penstock.engine.state import manifest as manifests
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.silence import Silence
from penstock.engine.state.upkeep.manifest_chain import ManifestChain
from penstock.engine.state.upkeep.sweeping import remove_packets
from penstock.engine.wire.facts import (
    Fact,
    KeptRows,
    ParsedSlice,
    SpooledRows,
    Woken,
    readings,
)
from penstock.engine.wire.packets import Packet, pack_fact
from penstock.engine.wire.task_errors import raise_error
from penstock.errors import StateError, UsageError
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Member, Script, derived_source
from penstock.query.source import Source

_TASKS = 64
"""Tasks that may share the rows of a derived stream; small pieces are not split."""

Made = dict[str, tuple[Manifest, list[Fact]]]


class ScriptPipeline:
    """Runs the batches of a script over one checkpoint, into a sink for each query that is shown.

    In a batch the queries run level by level: what one gives is read by those after it in the same
    batch. A crash before the manifest runs all of them again.
    """

    def __init__(
        self,
        script: Script,
        plans: Mapping[str, Plan],
        checkpoint: ScriptCheckpoint,
        sinks: Mapping[str, Sink],
        *,
        overwrite: bool = False,
        deliver: Mapping[str, Callable[[Manifest], None]] | None = None,
        rebuilt_at_once: int = REBUILT_AT_ONCE,
        supervisor: ScriptSupervisor | None = None,
    ):
        """A pipeline that goes on from the newest manifest; `deliver` hands the results of queries
        to those who take them before a batch is final. A `supervisor` may give them other plans."""
        self.asked = script
        self._supervisor = None if supervisor is None else GuardedScript(supervisor)
        self.checkpoint = checkpoint
        self.watch = Watch()
        self.log = ReportLog(checkpoint.store)
        self._chain = ManifestChain(checkpoint.store)
        self._report: Callable[[Report], None] = lambda report: None
        self._notes: list[Change] = []
        self._is_closed = False
        found = manifests.latest(checkpoint.store)
        refuse_closed_script(checkpoint, found)
        self.manifest = found or Manifest(batch=-1)
        refuse_latecomers(script, self.manifest)
        check_changes(checkpoint, script, found)
        before = None if found is None else manifests.before(checkpoint.store, found)
        self._gone = Gone(checkpoint, self.manifest, before)
        runs = {
            member.name: self._member(member, sinks, deliver or {}, rebuilt_at_once)
            for member in script.members
        }
        begun = begun_batch(checkpoint.store, self.manifest.batch + 1)
        for name, run in runs.items():
            run.follow(plans[name], begun)
        self.members = tuple(runs.values())
        self._levels = [[runs[each.name] for each in level] for level in levels_of(script)]
        self._shared = shared_sources(
            (item.source, run.turns.layout.reads(item.alias))
            for run in self.members
            for item in run.query.inputs
            if item.source.format != "derived"
        )
        try:
            self._recover(overwrite)
        except BaseException:
            self._let_go()
            raise

    def _member(
        self,
        member: Member,
        sinks: Mapping[str, Sink],
        deliver: Mapping[str, Callable[[Manifest], None]],
        rebuilt_at_once: int,
    ) -> MemberRun:
        held, root = self.checkpoint.members[member.name], self.checkpoint.store.root
        is_read = any(member.name in each.reads for each in self.asked.members)
        source = derived_source(member.name, member.query)
        taken = taken_join(self.asked, member)
        turns = Turns(
            held,
            # Who takes combinations on their way takes them of one plan, not of the one before it.
            rebuilt_at_once=rebuilt_at_once if taken is None else FOREVER,
            shared=root,
            handover=Handover(root, source) if is_read else None,
            taken=taken,
        )
        publisher = Publisher(
            sinks.get(member.name, noop()),
            held.store,
            held.mark,
            deliver.get(member.name, lambda made: None),
        )
        standing = self.manifest.members.get(member.name, Manifest(batch=self.manifest.batch))
        takers = tuple(sorted(each.name for each in self.asked.takers(member.name)))
        keeps_boxes = self._supervisor is not None and member.name in self._supervisor.sheds
        return MemberRun(member, held, turns, publisher, standing, takers, keeps_boxes=keeps_boxes)

    def _recover(self, overwrite: bool) -> None:
        """After a crash: show what is final, remove what is not."""
        store, known = self.checkpoint.store, self.manifest.streams
        before = manifests.before(store, self.manifest)
        for member in self.members:
            old = None if before is None else before.members.get(member.name)
            member.recover(old, overwrite=overwrite)
            self._notes += [Change("query", f"{member.name}: {said}") for said in member.changed()]
        publish_kept(store, self.manifest.kept)
        sources = [shared.source for shared in self._shared.values()]
        kept = self.manifest.kept
        for sink in (member.publisher.sink for member in self.members):
            kept = prepare_keeping(sources, self.manifest, sink, overwrite=overwrite)
        self.manifest = replace(self.manifest, kept=kept)
        remove_packets(store)
        forget_derived(store)
        if store.fence is None:  # Else behind a commit of our own.
            clean_kept(store)
        self._streams = [source for source in sources if not source.is_table]
        self.silence = Silence(
            store, {s.name: known[s.name].parts if s.name in known else () for s in self._streams}
        )

    def on_report(self, report: Callable[[Report], None]) -> None:
        """Have a function called with the report of each batch."""
        self._report = report

    def note(self, change: Change) -> None:
        """Have the report of the next batch tell of a change."""
        self._notes.append(change)

    def obey(self, order: Order) -> str:
        """Plan or shed as an order says; the answer in words, or a PenstockError."""
        if order.kind == "pin":
            raise _unpinned()
        if self._supervisor is None:
            raise UsageError(
                "nobody watches the streams of this run",
                hint="it follows the plans that it was started with",
            )
        return self._supervisor.obey(order)

    def replan(self, given: Plan | Planned | str) -> None:
        """Refuse a plan: it would be of one query, and there are several."""
        raise _unpinned()

    def close(self, error: str | None = None) -> None:
        """Let go of the checkpoint; `error` is what ended the run, if something did."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._supervisor is not None:
                self._supervisor.close()
            self.log.close(error)
        finally:
            self._let_go()
            self.checkpoint.close()

    def _let_go(self) -> None:
        """Let go of the sinks, once what was published is on their disks."""
        for member in self.members:
            member.publisher.close()
        with suppress(StateError):
            flush(self.checkpoint.store, [member.publisher for member in self.members])

    def process(
        self,
        number: int,
        run: Runner,
        *,
        offsets: Mapping[str, int] | None = None,
        drains: bool = False,
    ) -> None:
        """Run batch `number`, or show its results again if it is final already."""
        if number <= self.manifest.batch:
            self._show(self.manifest)
            return
        started = time.monotonic()
        self.watch.begin()
        self._turn(number)
        renewed = self._renewed(offsets or {})
        made = self._made(number, self.watch.over(run), drains, renewed)
        every = [fact for _, facts in made.values() for fact in facts]
        manifest = self._manifest(number, made, every, offsets or {}, drains)
        self._commit(manifest)
        old, self.manifest = self.manifest, manifest
        with self.watch.phase("commit"):
            self._sweep(made, every, old.batch)
        self.silence.hear(readings(every))
        warn_of_files(every)
        self._tell(old, made, time.monotonic() - started)

    @property
    def is_due(self) -> bool:
        """Whether a batch is due although nothing came: a stream is silent that others wait for."""
        return any(
            self.silence.rises(tuple(m.query.stream_sources.values()), m.manifest.streams)
            for m in self.members
        )

    def drain(self, run: Runner) -> None:
        """Answer whatever waits for the frontier, and close the checkpoint."""
        number = self.manifest.batch + 1
        self.process(number, run, offsets=self.manifest.offsets, drains=True)

    # A batch

    def _turn(self, number: int) -> None:
        """Have queries follow other plans from batch `number` on, if somebody wants that."""
        wanted: dict[str, Plan] = {}
        if self._supervisor is not None:
            running = {member.name: member.turns.plan for member in self.members}
            wanted |= self._supervisor.next_plans(running, number)
        # Who takes combinations says first what is shed, so that it counts tuples by their weights
        # whenever there are any, and a crash in between leaves them as they are.
        for member in sorted(self.members, key=lambda each: each.member.takes is None):
            plan = wanted.get(member.name)
            if plan is not None and not member.possible(plan):
                plan = None
            member.turn(number, plan, "the reports say why")

    def _renewed(self, offsets: Mapping[str, int]) -> frozenset[str]:
        """The tables that have another version from this batch on."""
        done = self.manifest.offsets
        found = (renewed_tables(member.query, done, offsets) for member in self.members)
        return frozenset[str]().union(*found)

    def _loader(self, name: str, run: Runner, told: set[str]) -> Load:
        """Reads new versions of tables for one query, with the columns that any of them wants; the
        faults of a table are told by the first that reads it."""

        def load(job: Job) -> Sequence[Fact]:
            assert job.packing is not None, "it reads"
            tells = frozenset(job.packing.query.sources.keys() - job.packing.leaves - told)
            told.update(tells)
            packing = JointPacking((job.packing,), self._shared, self.checkpoint.store.root, tells)
            facts = run(JointJob({name: job}, packing))
            raise_error(facts)
            return facts_of(0, facts)

        return load

    def _made(self, number: int, run: Runner, drains: bool, renewed: frozenset[str]) -> Made:
        """What each query has made of the batch, those that are read before those that read."""
        silent = self.silence.decide(number, self._streams)
        made: Made = {}
        told: set[str] = set()
        parsed: dict[str, str] = {}
        for depth, level in enumerate(self._levels):
            times = {name: come_to(self._query(name), each) for name, (each, _) in made.items()}
            turns = {
                m.name: m.begin(
                    number, run, silent, drains, times, renewed, self._loader(m.name, run, told)
                )
                for m in level
            }
            members = [member.member for member in level]
            jobs = with_takers(members, {name: turn.job for name, turn in turns.items()})
            read = {name for member in level for name in member.query.sources}
            packings = tuple(job.packing for job in jobs.values() if job.packing is not None)
            packing = JointPacking(
                packings,
                self._shared,
                self.checkpoint.store.root,
                frozenset(read - told),
                self._read_again(depth),
                parsed,
            )
            takers = {each.name: each.takes.maker for each in members if each.takes}
            facts = run(JointJob(jobs, packing, self._brought(level, made), takers))
            raise_error(facts)
            parsed |= {each.piece: each.name for each in facts if isinstance(each, ParsedSlice)}
            for place, member in enumerate(level):
                mine = [*turns[member.name].told, *facts_of(place, facts)]
                made[member.name] = (member.made(mine), mine)
            told |= read
        return made

    def _read_again(self, depth: int) -> frozenset[str]:
        """The streams of text that a level is the first to read, and not the last."""
        if not self.checkpoint.store.is_local:
            return frozenset()
        reads = [{name for run in level for name in run.query.sources} for level in self._levels]
        again = reads[depth].intersection(set[str]().union(*reads[depth + 1 :]))
        first = again.difference(*reads[:depth])
        return frozenset(name for name in first if self._is_text(name))

    def _is_text(self, name: str) -> bool:
        """Whether a source is a stream of text."""
        shared = self._shared.get(name)
        return shared is not None and shared.source.format in TEXTS and not shared.source.is_table

    def _query(self, name: str) -> Query:
        return self.asked.member(name).query

    def _brought(self, level: Sequence[MemberRun], made: Made) -> tuple[Packet, ...]:
        """What wakes the queries of a level, and the rows of other queries that they read."""
        read: dict[str, Source] = {}
        for member in level:
            read |= derived_sources(member.query)
        files = [
            replace(fact, source=name)
            for name, source in read.items()
            for maker in source.makers
            for fact in made[maker][1]
            if isinstance(fact, SpooledRows)
        ]
        slices, _ = slices_of(files, {}, _TASKS)
        return (pack_fact(0, Woken()), *(piece.packet(0) for piece in slices))

    def _manifest(
        self,
        number: int,
        made: Made,
        every: list[Fact],
        offsets: Mapping[str, int],
        drains: bool,
    ) -> Manifest:
        """The manifest of the batch, with those of all queries in it."""
        members = {name: each for name, (each, _) in made.items()}
        sources = [shared.source for shared in self._shared.values()]
        both = {run.name: (run.manifest, members[run.name]) for run in self.members}
        found = sum(new.results - old.results for old, new in _shown(self.asked, both))
        return Manifest(
            batch=number,
            streams=streams_after(self.manifest.streams, both.values(), self._shared),
            offsets=offsets,
            results=self.manifest.results + found,
            kept=with_rows(self.manifest.kept, sources, every),
            is_closed=drains,
            members=members,
        )

    def _commit(self, made: Manifest) -> None:
        """Make a batch final, and show its results."""
        with self.watch.phase("commit"):
            flush(self.checkpoint.store, [member.publisher for member in self.members])
        with self.watch.phase("publish"):
            for member in self.members:
                member.publisher.hand_out(made.members[member.name])
        with self.watch.phase("commit"):
            self._chain.commit(made)
        with self.watch.phase("publish"):
            self._show(made)
        self.watch.show()

    def _show(self, made: Manifest) -> None:
        for member in self.members:
            if member.name in made.members:
                member.publisher.show(made.members[member.name])
        publish_kept(self.checkpoint.store, made.kept)

    def _sweep(self, made: Made, every: list[Fact], old: int) -> None:
        """Delete what nobody needs any more who goes on from this batch, or from the `old` one."""
        store = self.checkpoint.store
        self._before = {member.name: member.manifest for member in self.members}
        for member in self.members:
            member.settle(*made[member.name])
        self._gone.sweep(old)
        forget_batch(store, old, self._chain)
        forget_derived(store)
        if any(isinstance(fact, KeptRows) for fact in every):
            clean_kept(store)

    def _tell(self, old: Manifest, made: Made, seconds: float) -> None:
        """Report a batch that is final."""
        before = self._before
        facts = {name: gathered(mine) for name, (_, mine) in made.items()}
        members = {
            m.name: m.report(before[m.name], facts[m.name], self.watch) for m in self.members
        }
        sources = [shared.source for shared in self._shared.values()]
        report = report_of_script(self.asked, sources, (old, self.manifest), members, self.watch)
        report = replace(report, seconds=seconds)
        self.watch = self.watch.next_batch()
        if self._supervisor is not None:
            plans = {member.name: member.turns.plan for member in self.members}
            report = self._supervisor.observe(report, facts, plans)
        notes, self._notes = tuple(self._notes), []
        report = replace(report, changes=(*notes, *report.changes))
        self.log.tell(report)
        self._report(report)


def _shown(
    script: Script, both: Mapping[str, tuple[Manifest, Manifest]]
) -> list[tuple[Manifest, Manifest]]:
    return [both[member.name] for member in script.shown]


def _unpinned() -> UsageError:
    return UsageError(
        "a plan is of one query, and the script asks several",
        hint="they are planned again as their streams change; or ask the query by itself",
    )
