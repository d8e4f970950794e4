"""Facts: small messages from tasks to the driver, and from one step of a batch to the next.

Each is a frozen type and travels as JSON. Two of them live where state is made from them: a
`Reading` moves the frontier, and a `StagedPart` is listed by the manifest.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar, cast, get_args

import pyarrow as pa

from penstock.engine.state.frontier import Reading
from penstock.engine.state.manifest import StagedPart
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo
from penstock.errors import Caret


@dataclass(frozen=True)
class Failure:
    """An error that its user can mend: the name of its class, and all that the error says."""

    error: str
    message: str
    hint: str | None
    place: Caret | None


@dataclass(frozen=True)
class Drain:
    """The streams have ended: wakes the steps of a batch that reads nothing."""


@dataclass(frozen=True)
class Woken:
    """A batch has begun: wakes the queries of whose sources nothing has come."""


@dataclass(frozen=True)
class Resend:
    """State is to be sent again: wakes a partition that has some."""


@dataclass(frozen=True)
class KeptRows:
    """Malformed rows of a source that were staged in a file; `at` orders the files of a source."""

    source: str
    at: tuple[int, int]
    part: StagedPart


@dataclass(frozen=True)
class UnreadableFile:
    """A file of a source that was left out."""

    source: str
    reason: str


@dataclass(frozen=True)
class SpooledRows:
    """Rows of a source that came through Spark, as a file of the checkpoint."""

    source: str
    name: str
    rows: int
    checksum: int


@dataclass(frozen=True)
class ParsedSlice:
    """The rows of a slice, by its text, as a file of the checkpoint for others of the batch."""

    piece: str
    name: str


@dataclass(frozen=True)
class Shed:
    """Tuples of an input that its drop box has taken."""

    alias: str
    rows: int


@dataclass(frozen=True)
class ShedTimes:
    """The least and the greatest event time of what came to an input that is shed."""

    alias: str
    first: int
    last: int


@dataclass(frozen=True)
class Filtered:
    """Tuples of an input that came to its filters, and those of them that passed."""

    alias: str
    taken: int
    passed: int


@dataclass(frozen=True)
class OperatorFlow:
    """Rows that went into an operator of a route, and rows that came out of it.

    A probe finds rows by key and time; `passed` are those of them that also meet the conditions
    which it is the first to decide, each of which is told as a filter of its own. `met` are the
    combinations that were in reach of a probe by time, whatever their keys, estimated for all
    partitions together; None where rows stand for several tuples.
    """

    driver: str
    route: int
    operator: str
    went_in: int
    came_out: int
    passed: int = 0
    met: float | None = None
    seconds: float = 0.0
    is_probe: bool = True


@dataclass(frozen=True)
class EddySample:
    """An eddy's profile of some tuples: `tuples` as an Arrow stream, `passed` as 8-bit integers."""

    driver: str
    tuples: bytes
    passed: bytes
    rows: tuple[float, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class KeySketch:
    """The keys of new tuples of an input that passed its filters: those with the least hashes.

    All tuples whose hash, as a fraction of all hashes, is below `share` are in it: `hashes` are the
    different ones (64-bit integers, sorted as unsigned), `counts` how often each came (64-bit).
    `rows` are the tuples that it stands for, of which `known` have no NULL in the key; those with a
    NULL in another key of the input are left out of both.
    """

    alias: str
    key: int
    rows: int
    known: int
    share: float
    hashes: bytes
    counts: bytes


@dataclass(frozen=True)
class InputSample:
    """New tuples of an input, drawn at random from `rows` of them before its filters; `tuples` is
    an Arrow stream."""

    alias: str
    rows: int
    tuples: bytes


@dataclass(frozen=True)
class TaskTime:
    """The seconds of a task, and those of a processor that it used, in one stage of a batch.

    In `compiling` of them it has compiled or loaded inner loops, which later tasks need not.
    """

    stage: str
    seconds: float
    cpu: float
    compiling: float = 0.0


@dataclass(frozen=True)
class Numbered:
    """How many tuples have got their place in the total order."""

    count: int


@dataclass(frozen=True)
class KeptChunk:
    """A chunk of a module at a partition from this batch on; None if it only replaces others.

    Later rounds of the batch find it among what is new if it `is_fresh`, or else among what is
    older; if that is None they do not, and read what it `replaces`.
    """

    module: Module
    pid: int
    chunk: ChunkInfo | None
    replaces: tuple[str, ...] = ()
    is_fresh: bool | None = None


@dataclass(frozen=True)
class PassingChunk:
    """A chunk that only later rounds of the batch read, at the same partition."""

    module: Module
    chunk: ChunkInfo
    is_fresh: bool


@dataclass(frozen=True)
class RowEnds:
    """A chunk with the numbers at which the tuples of an input's ROWS window die."""

    alias: str
    chunk: ChunkInfo


@dataclass(frozen=True)
class ChangesTold:
    """A tick of a view over ROWS windows is due, and whatever the keys in a chunk have may have
    changed; without a chunk, everything may have."""

    chunk: ChunkInfo | None


@dataclass(frozen=True)
class Told:
    """A fact of one of the queries that run together, by its number; the driver makes it of what
    has come."""

    query: int
    fact: Fact


Fact = (
    Reading
    | StagedPart
    | Failure
    | Drain
    | Woken
    | Resend
    | KeptRows
    | UnreadableFile
    | SpooledRows
    | ParsedSlice
    | Shed
    | ShedTimes
    | Filtered
    | OperatorFlow
    | EddySample
    | KeySketch
    | InputSample
    | TaskTime
    | Numbered
    | KeptChunk
    | PassingChunk
    | RowEnds
    | ChangesTold
    | Told
)

Kind = TypeVar("Kind")
_NAMES = tuple(type_.__name__ for type_ in get_args(Fact))
# Facts that no step of a batch reads: they are many, and reading one takes its time.
_FOR_DRIVER = (OperatorFlow, EddySample, KeySketch, InputSample, TaskTime)


def encode(*facts: Fact) -> bytes:
    """Facts as JSON, each a list of its kind and its fields; several at once take less time than
    one by one."""
    return _ENCODER.encode(list(map(_listed, facts))).encode()


def joined(texts: Iterable[bytes]) -> bytes:
    """Several pieces of bytes that `encode` made as one."""
    return b"[" + b", ".join(text[1:-1] for text in texts if len(text) > 2) + b"]"


def decode(data: pa.Buffer | bytes) -> list[Fact]:
    """The facts in bytes that `encode` made; they may be in any buffer."""
    return list(map(_revived, _DECODER.decode(str(data, "utf-8"))))


def _listed(fact: Fact) -> list[Any]:
    return [type(fact).__name__, *vars(fact).values()]


def _revived(listed: list[Any]) -> Fact:
    kind = listed.pop(0)
    if kind not in _KINDS:
        raise ValueError(f"there is no fact of kind {kind!r}; there are {', '.join(_NAMES)}")
    type_, names, revivals = _KINDS[kind]
    # A frozen type sets its fields one by one, which takes three times as long.
    made: Fact = object.__new__(type_)
    fields = vars(made)
    fields.update(zip(names, listed, strict=True))
    for name, revived in revivals:
        if fields[name] is not None:
            fields[name] = revived(fields[name])
    return made


def is_for_driver(data: pa.Buffer | bytes) -> bool:
    """Whether bytes that `encode` made hold facts that only the driver reads, by the first."""
    return bytes(data[:_LONGEST_START]).startswith(_STARTS)


class SortedFacts(Sequence[Fact]):
    """Facts by kind, in the order in which the kinds first appear: of many thousands, most who ask
    want a few."""

    def __init__(self, facts: Iterable[Fact]):
        self._by_kind: dict[type[Any], list[Any]] = defaultdict(list)
        for fact in facts:
            self._by_kind[type(fact)].append(fact)

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> SortedFacts:
        """Facts that may be sorted already."""
        return facts if isinstance(facts, SortedFacts) else cls(facts)

    def of_kind(self, kind: type[Kind]) -> list[Kind]:
        """Those of one kind."""
        return self._by_kind.get(kind, [])

    def with_kind(self, kind: type[Kind], facts: Iterable[Kind]) -> SortedFacts:
        """The same with others of one kind."""
        made = SortedFacts(())
        made._by_kind = self._by_kind | {kind: list(facts)}
        return made

    def __iter__(self) -> Iterator[Fact]:
        return chain.from_iterable(self._by_kind.values())

    def __len__(self) -> int:
        return sum(map(len, self._by_kind.values()))

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]


def of_kind(facts: Iterable[Fact], kind: type[Kind]) -> list[Kind]:
    """Those of one kind among facts of all kinds."""
    if isinstance(facts, SortedFacts):
        return facts.of_kind(kind)
    return [fact for fact in facts if isinstance(fact, kind)]


def readings(facts: Iterable[Fact]) -> list[Reading]:
    """The readings among facts of all kinds."""
    return of_kind(facts, Reading)


def _plain(value: object) -> object:
    """A field as JSON takes it."""
    match value:
        case Module():
            return value.text
        case bytes():
            return b64encode(value).decode()
        case ChunkInfo():
            return tuple(value.fields.values())
        case StagedPart() | Caret():
            return vars(value)
    if type(value).__name__ in _NAMES:
        return _listed(cast(Fact, value))
    raise TypeError(f"a fact cannot hold a {type(value).__name__}")


@lru_cache(maxsize=1 << 10)
def _module(text: str) -> Module:
    return Module(text)


def _chunk(values: list[Any]) -> ChunkInfo:
    """A chunk, of which there are many: they travel without the names of their fields."""
    return ChunkInfo(*values)


_STARTS = tuple(f'[["{type_.__name__}"'.encode() for type_ in _FOR_DRIVER)
_LONGEST_START = max(map(len, _STARTS))
_ENCODER = json.JSONEncoder(default=_plain, check_circular=False)
_DECODER = json.JSONDecoder()
# The fields that JSON does not give back as they were.
_REVIVED: Mapping[type[Fact], Mapping[str, Callable[[Any], Any]]] = {
    Failure: {"place": lambda fields: Caret(**fields)},
    KeptRows: {"at": tuple, "part": lambda fields: StagedPart(**fields)},
    EddySample: {"tuples": b64decode, "passed": b64decode, "rows": tuple, "seconds": tuple},
    KeySketch: {"hashes": b64decode, "counts": b64decode},
    InputSample: {"tuples": b64decode},
    KeptChunk: {"module": _module, "chunk": _chunk, "replaces": tuple},
    PassingChunk: {"module": _module, "chunk": _chunk},
    RowEnds: {"chunk": _chunk},
    ChangesTold: {"chunk": _chunk},
    Told: {"fact": _revived},
}
_KINDS: Mapping[
    str, tuple[type[Fact], tuple[str, ...], tuple[tuple[str, Callable[[Any], Any]], ...]]
] = {
    type_.__name__: (
        type_,
        tuple(type_.__dataclass_fields__),
        tuple(_REVIVED.get(type_, {}).items()),
    )
    for type_ in get_args(Fact)
}
"""By its name, a type of fact with the names of its fields and what is to be revived of them."""
