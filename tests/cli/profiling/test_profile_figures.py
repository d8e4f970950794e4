"""Profiles from stacks, threads and reports: every second is counted once, and kinds add up."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from penstock.cli.profiling.cpu import cpu_of
from penstock.cli.profiling.flame import write_flame
from penstock.cli.profiling.kinds import Frame, Kind
from penstock.cli.profiling.stacks import Stack, read_stacks
from penstock.cli.profiling.text import Profile, profile_text
from penstock.cli.profiling.usage import ProcessUse, ThreadUse, Usage
from penstock.cli.profiling.wall import wall_of
from penstock.cli.profiling.watched import Watched
from penstock.errors import SinkError

LEGS, PACK = "/x/penstock/engine/join/legs.py", "/x/penstock/engine/join/pack.py"
RAW = f"""\
process 7:"python -c a;b";thread (7): MainThread;run ({LEGS}:12);Join._probe ({LEGS}:150) 3
process 7:"python";process 9:"java; x";process 11:"python -m d";thread (11);pack ({PACK}:9) 4
process 7:"python";process 11:"python -m d" 1
py-spy has said something else
"""


def report(batch: int, at: float, **phases: float) -> Any:
    return SimpleNamespace(batch=batch, at=at, phases=phases, compiling=0.25, read={"a": 10})


def watched(*reports: Any, stacks: list[Stack] | None = None, engine: str = "spark") -> Watched:
    processes = {
        7: ProcessUse("driver", 3.0, {7: ThreadUse(2.0), 8: ThreadUse(0.5)}),
        9: ProcessUse("JVM", 4.0, {1: ThreadUse(1.0, "GC Thread#0"), 2: ThreadUse(2.0, "main")}),
        11: ProcessUse("workers", 2.0, {11: ThreadUse(2.0)}),
    }
    head = SimpleNamespace(started_at=104.0, engine=engine, error=None)
    return Watched(
        began=100.0,
        announced=101.0,
        ended=120.0,
        head=cast(Any, head),
        reports=reports,
        usage=Usage(processes, sampler=1.0, machine=15.0, cores=2),
        stacks=stacks or [],
    )


def test_stacks_are_read_though_commands_have_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "stacks"
    path.write_text(RAW)
    probing, packing, bare = read_stacks(path)
    assert (probing.process, probing.thread, probing.count) == (7, 7, 3)
    assert probing.frames == (Frame("run", LEGS, 12), Frame("Join._probe", LEGS, 150))
    assert (packing.process, packing.thread, packing.count) == (11, 11, 4)
    assert [each.kind for each in (probing, packing)] == [Kind.PROBING, Kind.PACKING]
    assert (bare.process, bare.frames, bare.kind) == (11, (), Kind.STARTING)


def test_the_line_that_collects_garbage_is_found_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "worker.py"
    path.write_text("import gc\ngc.collect()\n")
    assert Stack(1, 1, (Frame("worker", str(path), 2),), 1).kind is Kind.COLLECTING


def test_phases_add_up_to_the_clock() -> None:
    wall = wall_of(watched(report(0, 110.0, pack=2.0, spark=3.0), report(1, 114.0, pack=1.5)))
    seconds = {phase.name: phase.seconds for phase in wall.phases}
    assert seconds == {
        "Python, planning": 1.0,
        "starting Spark": 3.0,
        "before the first batch": 1.0,
        "pack": 3.5,
        "spark": 3.0,
        "between batches": 2.5,
        "ending": 6.0,
    }
    assert (wall.seconds, wall.unaccounted, wall.accounted) == (20.0, 0.0, 1.0)
    assert wall.compiling == 0.5


def test_what_follows_the_moment_of_a_commit_is_counted_once() -> None:
    """A batch is final before its commit has ended, so its phases reach into what comes after."""
    wall = wall_of(watched(report(0, 110.0, pack=7.0), report(1, 112.0, pack=2.0)))
    seconds = {phase.name: phase.seconds for phase in wall.phases}
    assert (seconds["between batches"], seconds["ending"]) == (0.0, 7.0)
    assert wall.unaccounted == 0.0


def test_a_run_without_batches_is_all_start_and_end() -> None:
    wall = wall_of(watched(engine="local"))
    assert [(phase.name, phase.seconds) for phase in wall.phases] == [
        ("Python, planning", 1.0),
        ("ending", 16.0),
    ]
    assert wall.accounted < 1.0


def stacks_of_run() -> list[Stack]:
    probing, packing = (Frame("Join._probe", LEGS),), (Frame("pack", PACK),)
    return [
        Stack(7, 7, probing, 1),
        Stack(7, 7, packing, 3),
        Stack(7, 99, probing, 5),
        Stack(11, 11, packing, 2),
    ]


def test_threads_share_their_own_seconds_by_their_own_stacks() -> None:
    cpu = cpu_of(watched(stacks=stacks_of_run()))
    assert cpu.by_kind == {
        Kind.SCHEDULING: {"JVM": 3.0},
        Kind.COLLECTING: {"JVM": 1.0},
        Kind.PACKING: {"driver": 1.5, "workers": 2.0},
        Kind.PROBING: {"driver": pytest.approx(1.0)},
        Kind.NATIVE: {"driver": 0.5},
    }
    assert cpu.seconds == pytest.approx(9.0)
    assert cpu.accounted == pytest.approx(1.0)
    assert (cpu.sampler, cpu.others, cpu.idle) == (1.0, 5.0, 25.0)


def test_seconds_that_nobody_has_seen_are_not_accounted_for() -> None:
    stacks = [stack for stack in stacks_of_run() if stack.thread == 7]
    cpu = cpu_of(watched(stacks=stacks))
    assert cpu.by_kind[Kind.OTHER] == {"driver": 0.5, "workers": 2.0}
    assert cpu.accounted == pytest.approx(6.5 / 9.0)


def test_without_stacks_python_is_one_kind() -> None:
    cpu = cpu_of(watched())
    assert cpu.by_kind[Kind.UNSAMPLED] == {"driver": 3.0, "workers": 2.0}
    assert cpu.accounted == pytest.approx(4.0 / 9.0)


def profile() -> Profile:
    run = watched(report(0, 110.0, pack=2.0), report(1, 114.0, pack=1.5), stacks=stacks_of_run())
    return Profile("spark", "penstock run q.cql", 2, 20, wall_of(run), cpu_of(run), ("a hint",))


def test_tables_say_what_they_add_up_to() -> None:
    text = profile_text(profile())
    assert "2 batches, 20 tuples, 20.00 s" in text
    assert "adds up to 100.0% of the run; 0.00 s in no phase" in text
    assert "the kind of 100.0% of 9.00 CPU seconds is known" in text
    assert "2 cores × 20.00 s: the run 22%, py-spy 2%, other processes 12%, idle 62%" in text
    assert text.endswith("note: a hint\n")


def test_the_document_has_all_figures() -> None:
    made = profile().document
    assert sum(each["seconds"] for each in made["wall"]["phases"]) == made["wall"]["seconds"]
    kinds = made["cpu"]["kinds"]
    assert sum(each["seconds"] for each in kinds) == pytest.approx(made["cpu"]["seconds"])
    assert {"driver", "workers", "jvm"} <= set(kinds[0])
    assert json.loads(json.dumps(made)) == made


def test_a_flame_graph_is_a_picture_with_all_seconds(tmp_path: Path) -> None:
    path = tmp_path / "flame.svg"
    write_flame(profile().cpu, path, "a < b")
    titles = [e.text or "" for e in ElementTree.parse(path).iter() if e.tag.endswith("title")]
    assert titles[0].startswith("all: 9.00 s, 100.0%")
    assert any("Join._probe (join/legs.py): 1.00 s" in title for title in titles)


def test_a_flame_graph_for_speedscope_has_a_profile_for_each_kind_of_process(
    tmp_path: Path,
) -> None:
    path = tmp_path / "flame.json"
    write_flame(profile().cpu, path, "title")
    made = json.loads(path.read_text("utf-8"))
    assert [each["name"] for each in made["profiles"]] == ["driver", "workers", "JVM"]
    for each in made["profiles"]:
        assert len(each["samples"]) == len(each["weights"])
        assert sum(each["weights"]) == pytest.approx(each["endValue"])
        assert max(map(max, each["samples"])) < len(made["shared"]["frames"])


def test_a_flame_graph_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="cannot write"):
        write_flame(profile().cpu, tmp_path / "nowhere" / "flame.svg", "title")
