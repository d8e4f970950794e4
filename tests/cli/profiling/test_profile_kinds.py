"""Kinds of work: which functions and which threads do what, by one table."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import penstock
from penstock.cli.profiling.kinds import RULES, Frame, Kind, kind_of, kind_of_thread

SITE = "/usr/lib/python3.11/site-packages"
SOURCE = Path(penstock.__file__).parent.parent


def ours(path: str, function: str = "f") -> Frame:
    return Frame(function, f"{SITE}/penstock/{path}")


def theirs(path: str, function: str = "f") -> Frame:
    return Frame(function, f"{SITE}/{path}")


WORKER = (theirs("pyspark/daemon.py", "worker"), theirs("pyspark/worker.py", "main"))
STEP = (*WORKER, ours("engine/run/step.py", "Step.run"))
PROBE = (*STEP, ours("engine/join/legs.py", "Join._probe"))
PACK = (*WORKER, ours("engine/join/pack.py", "Packing.pack"))
KEPT = (*STEP, ours("engine/join/state_writer.py", "StateWriter.take"))


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        ((), Kind.STARTING),
        (WORKER, Kind.SERIALISING),
        (PROBE, Kind.PROBING),
        ((*PROBE, theirs("numpy/_core/fromnumeric.py", "_wrapfunc")), Kind.PROBING),
        ((*PROBE, ours("engine/join/legs.py", "Join._payload")), Kind.RESULTS),
        ((*PROBE, theirs("numba/core/dispatcher.py", "compile")), Kind.COMPILING),
        ((*PROBE, theirs("numba/core/ir.py", "<module>")), Kind.STARTING),
        ((*PROBE, Frame("_find_and_load", "<frozen importlib._bootstrap>")), Kind.STARTING),
        (PACK, Kind.PACKING),
        ((*PACK, ours("kernels/hashing.py", "hash_column")), Kind.PACKING),
        ((*PACK, ours("engine/wire/exchange.py", "scatter")), Kind.MOVING),
        ((*PACK, ours("engine/sources/parquet_rows.py", "parquet_rows")), Kind.READING),
        ((*KEPT, ours("kernels/sorting.py", "state_order")), Kind.SORTING),
        ((*KEPT, ours("engine/state/store.py", "Summed.write")), Kind.WRITING),
        ((*KEPT, ours("engine/state/store.py", "Store.exists")), Kind.WRITING),
        ((*STEP, ours("engine/views/tally.py", "tally")), Kind.AGGREGATING),
        ((*STEP, ours("engine/sinks/publish.py", "stage")), Kind.SINK),
        ((ours("engine/run/commit.py", "Committer.commit"),), Kind.COMMIT),
        ((ours("engine/reports/log.py", "ReportLog._take"),), Kind.REPORTING),
        ((ours("engine/run/pipeline.py", "Pipeline.process"),), Kind.LEADING),
        ((ours("cli/run.py", "run"), ours("optimize/planner.py", "decide")), Kind.PLANNING),
        ((ours("engine/spark/runner.py"), theirs("py4j/clientserver.py")), Kind.SCHEDULING),
        ((Frame("Condition.wait", "/usr/lib/python3.11/threading.py"),), Kind.WAITING),
        ((Frame("main", "/home/me/script.py"),), Kind.OTHER),
    ],
)
def test_a_stack_is_of_the_kind_of_its_innermost_function_with_a_rule(
    frames: tuple[Frame, ...], kind: Kind
) -> None:
    assert kind_of(frames) is kind


def test_a_line_that_collects_garbage_is_known_by_its_text() -> None:
    assert kind_of(WORKER[:1], "    gc.collect()\n") is Kind.COLLECTING


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("GC Thread#0", Kind.COLLECTING),
        ("G1 Conc#0", Kind.COLLECTING),
        ("C1 CompilerThre", Kind.JVM_COMPILING),
        ("Executor task l", Kind.JVM_TASKS),
        ("dag-scheduler-e", Kind.SCHEDULING),
        ("", Kind.SCHEDULING),
    ],
)
def test_threads_of_the_jvm_are_known_by_their_names(name: str, kind: Kind) -> None:
    assert kind_of_thread(name) is kind


def test_the_table_names_files_that_there_are() -> None:
    """So that a file that is renamed does not become other work unnoticed."""
    for rule in RULES:
        if "/penstock/" in rule.path:
            place = SOURCE / rule.path.removeprefix("/").removesuffix(".py")
            assert place.is_dir() or place.with_suffix(".py").exists(), rule


def test_the_table_names_functions_that_there_are() -> None:
    for rule in RULES:
        place = SOURCE / rule.path.removeprefix("/")
        if "/penstock/" in rule.path and rule.functions:
            files = place.glob("*.py") if place.is_dir() else [place.with_suffix(".py")]
            text = "".join(path.read_text("utf-8") for path in files)
            for name in rule.functions:
                assert f"def {name}(" in text or f"class {name}" in text, (rule.path, name)


def test_the_frames_of_spark_are_where_the_table_looks() -> None:
    for name in ("pyspark.daemon", "pyspark.serializers", "pyspark.accumulators"):
        found = importlib.util.find_spec(name)
        assert found is not None
        assert any(rule.path in str(found.origin) for rule in RULES if "pyspark" in rule.path)
