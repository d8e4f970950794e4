"""The start of a script: what is refused before anything is made, and its pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import closing

from penstock.engine.places.place import Place
from penstock.engine.run.options import RunOptions
from penstock.engine.run.preflight import check_sources
from penstock.engine.script.leavings import check_changes, refuse_closed_script
from penstock.engine.script.script_checkpoint import ScriptCheckpoint
from penstock.engine.script.script_pipeline import ScriptPipeline
from penstock.engine.script.shared_joins import lasting_part
from penstock.engine.sinks.publish import check_sink, is_new_to, refuse_read
from penstock.engine.sinks.sink import Sink
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import is_claimed, mark_of
from penstock.engine.state.hold import Hold, check_folder
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store, member_store
from penstock.engines import BatchEngine
from penstock.errors import UsageError
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Script


def check_script_start(
    script: Script,
    sinks: Mapping[str, Sink],
    options: RunOptions,
    engine: BatchEngine,
    frames: Collection[str] = (),
) -> None:
    """Refuse a run that may not start, by what can be seen without starting it.

    `frames` are the streams and tables whose DataFrames were given.
    """
    check_sinks(script, sinks)
    found, store = None, Store(Place.of(options.checkpoint))
    marks: dict[str, str] = {}
    check_folder(store)
    if is_claimed(store) and not store.is_local:
        # To hold it would fence off a run that is there; the start looks at all of it.
        made = manifests.newest(store, 1)
        found = made[0] if made else None
        marks = (
            {name: mark_of(member_store(store, name)) for name in found.members} if found else {}
        )
    elif is_claimed(store):
        with closing(hold_script(script, _queries(script), options, engine, 1)) as held:
            found = manifests.latest(held.store)
            refuse_closed_script(held, found)
            check_changes(held, script, found)
            marks = {name: each.mark for name, each in held.members.items()}
    known = {} if found is None else found.members
    for name, sink in sinks.items():
        is_new = is_new_to(sink, known.get(name), member_store(store, name))
        query, mark = script.member(name).query, marks.get(name)
        check_sink(sink, query, is_new=is_new, overwrite=options.overwrite, mark=mark)
    check_sources(script.sources.values(), options, engine, frames)


def check_sinks(script: Script, sinks: Mapping[str, Sink]) -> None:
    """Refuse results that go nowhere or back into the script, sinks of no query, and two queries
    into one sink."""
    shown = [member.name for member in script.shown]
    for name in shown:
        if name not in sinks:
            hint = f"give one for each of {', '.join(shown)}"
            raise UsageError(f"the results of {name} have no sink", hint=hint)
    places: dict[str, str] = {}
    for name, sink in sinks.items():
        if name not in shown:
            hint = f"the script shows {', '.join(shown)}"
            raise UsageError(f"there is a sink for {name}, whose results are not shown", hint=hint)
        refuse_read(sink, script.sources.values())
        where = sink.name if sink.is_exact else name
        if where in places:
            raise UsageError(
                f"{places[where]} and {name} have the same sink, {sink}",
                hint="give each query a place of its own",
            )
        places[where] = name


def hold_script(
    script: Script,
    queries: Mapping[str, Query],
    options: RunOptions,
    engine: BatchEngine,
    partitions: int,
    hold: Hold | None = None,
) -> ScriptCheckpoint:
    """The checkpoint of a script, for this run alone; `partitions` if nobody says how many."""
    given = options.partitions
    return ScriptCheckpoint(
        options.checkpoint,
        queries,
        given or partitions,
        engine=engine,
        is_given=given is not None,
        hold=hold,
        change=options.change,
        makers=[member.name for member in script.members if script.takers(member.name)],
    )


def pipeline_of(
    script: Script,
    plans: Mapping[str, Plan],
    held: ScriptCheckpoint,
    options: RunOptions,
    deliver: Mapping[str, Callable[[Manifest], None]] | None = None,
) -> ScriptPipeline:
    """The pipeline of a script, as its options say."""
    return ScriptPipeline(
        script,
        plans,
        held,
        options.sinks,
        overwrite=options.overwrite,
        deliver=deliver,
        rebuilt_at_once=options.rebuilt_at_once,
        supervisor=options.followed_by,
    )


def queries_of(script: Script, plans: Mapping[str, Plan]) -> dict[str, Query]:
    """The queries of a script as they were planned, with filters where the plans want them; of who
    finds combinations for others, what stays the same when some of these come or go."""
    return {
        name: lasting_part(plan.query) if script.takers(name) else plan.query
        for name, plan in plans.items()
    }


def _queries(script: Script) -> dict[str, Query]:
    return {
        each.name: lasting_part(each.query) if script.takers(each.name) else each.query
        for each in script.members
    }
