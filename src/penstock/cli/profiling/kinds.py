"""Kinds of work, and the one table that says which function and which thread does which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a processor does for a run, in the order in which tables show it."""

    SCHEDULING = "Spark's scheduling"
    JVM_TASKS = "Spark's tasks in the JVM"
    JVM_COMPILING = "JVM: compiling"
    COLLECTING = "garbage collection"
    STARTING = "Python start and imports"
    COMPILING = "compiling inner loops"
    PLANNING = "planning and following"
    LEADING = "leading batches"
    SERIALISING = "serialisation"
    READING = "reading"
    PACKING = "hashing and packing"
    MOVING = "moving"
    SORTING = "sorting"
    WRITING = "writing chunks"
    PROBING = "probing"
    RESULTS = "making results"
    AGGREGATING = "aggregating"
    SINK = "sink"
    COMMIT = "commit"
    REPORTING = "reports"
    WAITING = "waiting"
    NATIVE = "threads of libraries"
    UNSAMPLED = "Python, not sampled"
    OTHER = "other"

    @property
    def is_known(self) -> bool:
        """Whether it says what was done."""
        return self not in (Kind.UNSAMPLED, Kind.OTHER)


@dataclass(frozen=True)
class Frame:
    """A function on a stack."""

    function: str
    file: str
    line: int = 0


@dataclass(frozen=True)
class Rule:
    """The work of some functions: those of files whose path has `path` in it, and whose name, or a
    part of it between dots, is one of `functions`, if there are any. Without a kind they work for
    whoever calls them."""

    kind: Kind | None
    path: str
    functions: tuple[str, ...] = ()

    def fits(self, frame: Frame) -> bool:
        if self.path not in f"/{frame.file}":
            return False
        return not self.functions or bool({*frame.function.split(".")} & {*self.functions})


_ENGINE = "/penstock/engine"
_WAITS = ("wait", "_try_wait", "acquire", "join", "select", "poll", "accept", "get_request")

# A stack is of the kind of its innermost function that a rule fits, and of the first such rule.
# Functions that do as they are told by others (expressions, Arrow, files) have no rule.
RULES = (
    Rule(Kind.STARTING, "", ("<module>",)),
    Rule(Kind.STARTING, "/<frozen importlib"),
    Rule(Kind.STARTING, "/<frozen zipimport>"),
    Rule(Kind.COMPILING, "/numba/"),
    Rule(Kind.COMPILING, "/llvmlite/"),
    Rule(Kind.COMPILING, "/penstock/kernels/warm_up"),
    Rule(Kind.COMPILING, "/penstock/kernels/compiled"),
    Rule(Kind.WAITING, "/threading.py", _WAITS),
    Rule(Kind.WAITING, "/selectors.py", _WAITS),
    Rule(Kind.WAITING, "/socketserver.py"),
    Rule(Kind.WAITING, "/subprocess.py", _WAITS),
    Rule(Kind.WAITING, "/pyspark/accumulators.py"),
    Rule(Kind.WAITING, "/py4j/", ("FinalizerWorker", "CallbackServer", "quiet_shutdown")),
    Rule(Kind.WAITING, "/concurrent/futures/thread.py", ("_worker",)),
    Rule(Kind.SCHEDULING, "/py4j/"),
    Rule(Kind.SERIALISING, "/cloudpickle/"),
    Rule(Kind.SERIALISING, "/pyspark/serializers"),
    Rule(Kind.SERIALISING, "/pyspark/sql/pandas/serializers"),
    Rule(Kind.SORTING, "/penstock/kernels/sorting"),
    Rule(Kind.SORTING, f"{_ENGINE}/join/partition_state", ("in_state_order",)),
    Rule(Kind.SORTING, f"{_ENGINE}/join/sequencer"),
    Rule(Kind.SORTING, f"{_ENGINE}/join/legs", ("_sorted_by_key", "by_time")),
    Rule(Kind.PACKING, "/penstock/kernels/hashing"),
    Rule(Kind.MOVING, f"{_ENGINE}/wire/exchange"),
    Rule(Kind.MOVING, f"{_ENGINE}/wire/packet_files"),
    Rule(Kind.MOVING, f"{_ENGINE}/wire/spilling"),
    Rule(Kind.WRITING, f"{_ENGINE}/wire/chunks"),
    Rule(Kind.SERIALISING, f"{_ENGINE}/wire/", ("pack_fact", "unpack_facts", "encode", "decode")),
    Rule(Kind.SERIALISING, f"{_ENGINE}/wire/packets"),
    Rule(Kind.READING, f"{_ENGINE}/sources/"),
    Rule(Kind.READING, f"{_ENGINE}/state/upkeep/chunk_cache"),
    Rule(Kind.READING, f"{_ENGINE}/state/store", ("read_rows", "read_chunk", "read")),
    Rule(Kind.WRITING, f"{_ENGINE}/state/store", ("Summed", "write_rows", "write_chunk")),
    Rule(None, f"{_ENGINE}/state/store"),
    Rule(Kind.READING, f"{_ENGINE}/join/partition_state", ("open", "listed", "old", "reopen")),
    Rule(Kind.SINK, f"{_ENGINE}/sinks/"),
    Rule(Kind.RESULTS, f"{_ENGINE}/join/legs", ("_payload", "_concat", "gathered", "to_rows")),
    Rule(Kind.RESULTS, f"{_ENGINE}/views/results"),
    Rule(Kind.PROBING, f"{_ENGINE}/join/legs"),
    Rule(Kind.PROBING, f"{_ENGINE}/join/reach"),
    Rule(Kind.PROBING, f"{_ENGINE}/outer/"),
    Rule(Kind.WRITING, f"{_ENGINE}/join/state_writer"),
    Rule(Kind.WRITING, f"{_ENGINE}/join/filling"),
    Rule(Kind.WRITING, f"{_ENGINE}/join/rebuild"),
    Rule(Kind.WRITING, f"{_ENGINE}/join/expiry"),
    Rule(Kind.WRITING, f"{_ENGINE}/state/merging"),
    Rule(Kind.AGGREGATING, f"{_ENGINE}/views/"),
    Rule(Kind.AGGREGATING, f"{_ENGINE}/folding/"),
    Rule(Kind.AGGREGATING, f"{_ENGINE}/changes/"),
    Rule(Kind.PACKING, f"{_ENGINE}/join/"),
    Rule(Kind.PACKING, f"{_ENGINE}/routes/"),
    Rule(Kind.REPORTING, f"{_ENGINE}/reports/"),
    Rule(Kind.REPORTING, f"{_ENGINE}/measures/", ("measured", "gathered", "merged")),
    Rule(Kind.REPORTING, f"{_ENGINE}/control/"),
    Rule(Kind.REPORTING, "/penstock/cli/show/"),
    Rule(Kind.COMMIT, f"{_ENGINE}/run/commit"),
    Rule(Kind.COMMIT, f"{_ENGINE}/run/pipeline", ("_finish",)),
    Rule(Kind.COMMIT, f"{_ENGINE}/script/", ("_commit", "_sweep")),
    Rule(Kind.COMMIT, f"{_ENGINE}/state/"),
    Rule(Kind.PROBING, f"{_ENGINE}/run/probing"),
    Rule(Kind.PROBING, f"{_ENGINE}/run/step"),
    Rule(Kind.PLANNING, "/penstock/adapt/"),
    Rule(Kind.PLANNING, "/penstock/sampling/"),
    Rule(Kind.PLANNING, "/penstock/optimize/"),
    Rule(Kind.PLANNING, "/penstock/cql/"),
    Rule(Kind.PLANNING, "/penstock/stats/"),
    Rule(Kind.PLANNING, "/penstock/plan/"),
    Rule(Kind.SCHEDULING, f"{_ENGINE}/spark/runner"),
    Rule(Kind.SCHEDULING, f"{_ENGINE}/spark/handle"),
    Rule(Kind.SCHEDULING, f"{_ENGINE}/spark/starting/"),
    Rule(Kind.SCHEDULING, f"{_ENGINE}/spark/session"),
    Rule(Kind.LEADING, f"{_ENGINE}/run/"),
    Rule(Kind.LEADING, f"{_ENGINE}/script/"),
    Rule(Kind.LEADING, f"{_ENGINE}/local"),
    Rule(Kind.SERIALISING, "/pyspark/worker"),
    Rule(Kind.STARTING, "/pyspark/daemon.py"),
    Rule(Kind.SCHEDULING, "/pyspark/"),
    Rule(Kind.STARTING, f"{_ENGINE}/spark/daemon"),
    Rule(Kind.PLANNING, "/penstock/cli/"),
    Rule(Kind.PLANNING, "/penstock/api.py"),
)

# Threads of the JVM by the start of their names, of which systems keep fifteen characters.
_THREADS = (
    ("GC Thread", Kind.COLLECTING),
    ("G1 ", Kind.COLLECTING),
    ("C1 Compiler", Kind.JVM_COMPILING),
    ("C2 Compiler", Kind.JVM_COMPILING),
    ("Executor task", Kind.JVM_TASKS),
    ("shuffle-", Kind.JVM_TASKS),
    ("stdout writer", Kind.JVM_TASKS),
)

_COLLECTS = "gc.collect("


def kind_of(frames: Sequence[Frame], source_line: str = "") -> Kind:
    """The kind of work of a stack, its outermost function first; `source_line` is the line that
    the innermost is at, as far as it is known."""
    if not frames:
        return Kind.STARTING
    if _COLLECTS in source_line:
        return Kind.COLLECTING
    for frame in reversed(frames):
        kind = next((rule.kind for rule in RULES if rule.fits(frame)), None)
        if kind is not None:
            return kind
    return Kind.OTHER


def kind_of_thread(name: str) -> Kind:
    """The kind of work of a thread of the JVM."""
    return next((kind for start, kind in _THREADS if name.startswith(start)), Kind.SCHEDULING)
