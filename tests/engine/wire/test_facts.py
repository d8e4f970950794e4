"""Facts: every kind comes back as it was sent, and no other kind is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest

from penstock.engine.places.place import Place
from penstock.engine.state.frontier import Reading
from penstock.engine.state.manifest import StagedPart
from penstock.engine.state.modules import SHOWN, Module
from penstock.engine.state.store import ChunkInfo, read_rows
from penstock.engine.wire.chunks import keep_chunk, pass_chunk
from penstock.engine.wire.facts import (
    ChangesTold,
    Drain,
    EddySample,
    Fact,
    Failure,
    Filtered,
    InputSample,
    KeptChunk,
    KeptRows,
    KeySketch,
    Numbered,
    OperatorFlow,
    ParsedSlice,
    PassingChunk,
    Resend,
    RowEnds,
    Shed,
    ShedTimes,
    SortedFacts,
    SpooledRows,
    TaskTime,
    Told,
    UnreadableFile,
    Woken,
    decode,
    encode,
    of_kind,
    readings,
)
from penstock.engine.wire.packets import (
    Packet,
    from_batches,
    pack_fact,
    sort_out,
    to_batches,
    unpack_facts,
    unpack_facts_for_steps,
)
from penstock.engine.wire.tags import META, READ
from penstock.engine.wire.task_errors import errors_as_facts, raise_error
from penstock.errors import Caret, PenstockError, SourceError

CHUNK = ChunkInfo("state/A@0/1/x.arrow", 3, 800, 17, -5, 9, 1, 20)
PART = StagedPart("/out/staged.parquet", 7, 900)
MODULE = Module.kept("(A B)", 2)

FACTS: list[Fact] = [
    Reading("bid", 10, 1, 2, 0, 99, -4),
    Reading("bid", 0, 0, 0, 1, None, None),
    PART,
    Failure("SourceError", "it is «wrong»", "mend it", Caret("SELECT", 0, 3, "a.cql")),
    Failure("StateError", "a line\nand another", None, None),
    Drain(),
    Woken(),
    Told(2, Shed("a", 3)),
    Resend(),
    KeptRows("bid", (3, 0), PART),
    UnreadableFile("bid", "it is empty"),
    SpooledRows("bid", "spool/00.arrow", 12, 345),
    ParsedSlice('{"source": "a"}', "derived/1.arrow"),
    Shed("A", 5),
    ShedTimes("A", -5, 7),
    Filtered("A", 10, 0),
    OperatorFlow("A", 1, "B.x > 'ä'", 100, 7, 7, None, 0.25, is_probe=False),
    OperatorFlow("A", 0, "(B C)", 100, 7, 6, 1234.5, 1e-9),
    EddySample("A", b"\x00\xff", b"\x01\x00\xff", (1.0, 0.0), (0.1, 1e-9)),
    KeySketch("A", 1, 9, 8, 0.5, b"\x00\xff" * 8, b"\x01\x00" * 8),
    InputSample("A", 100, b"\x00\xff"),
    TaskTime("round 0", 0.25, 0.125),
    Numbered(0),
    KeptChunk(MODULE, 5, CHUNK, ("state/a.arrow", "state/b.arrow"), False),
    KeptChunk(SHOWN, 5, None, ("state/a.arrow",)),
    KeptChunk(Module.pending("a:b@0"), 0, CHUNK),
    PassingChunk(MODULE, CHUNK, True),
    RowEnds("A", CHUNK),
    ChangesTold(CHUNK),
    ChangesTold(None),
]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: type(fact).__name__)
def test_a_fact_comes_back_as_it_was(fact: Fact) -> None:
    (found,) = decode(encode(fact))
    assert found == fact
    assert type(found) is type(fact)
    assert hash(found) == hash(fact)


def test_every_kind_is_tried() -> None:
    assert {type(fact) for fact in FACTS} == set(get_args(Fact))


def test_every_kind_has_a_text_of_its_own() -> None:
    kinds = {(type(fact), json.loads(encode(fact))[0][0]) for fact in FACTS}
    assert len({kind for _, kind in kinds}) == len(kinds) == len(get_args(Fact))


@pytest.mark.parametrize("data", [b'[["surprise", 1]]', b"[[1]]"])
def test_an_unknown_kind_is_named(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"no fact of kind .*; there are Reading, StagedPart, "):
        decode(data)


@pytest.mark.parametrize("data", [b'[["Shed"]]', b'[["Shed", "A"]]', b'[["Drain", 1]]'])
def test_a_fact_with_other_fields_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="argument 2 is"):
        decode(data)


def test_facts_travel_as_packets() -> None:
    sent = [pack_fact(pid, fact) for pid, fact in enumerate(FACTS)]
    arrived = list(from_batches(to_batches([*sent, Packet(3, READ, sent[0].data)])))
    assert [packet.pid for packet in arrived] == [*range(len(FACTS)), 3]
    facts, others = sort_out(arrived)
    assert unpack_facts(facts) == FACTS
    assert {packet.tag for packet in facts} == {META}
    assert unpack_facts(others[READ]) == FACTS[:1]
    assert readings(FACTS) == FACTS[:2]


def test_several_facts_travel_in_one_packet() -> None:
    assert unpack_facts([pack_fact(0, *FACTS), pack_fact(1), pack_fact(2, Drain())]) == [
        *FACTS,
        Drain(),
    ]


def test_facts_are_found_by_their_kind() -> None:
    sorted_ = SortedFacts(FACTS)
    assert SortedFacts.of(sorted_) is sorted_
    for kind in get_args(Fact):
        assert of_kind(sorted_, kind) == of_kind(FACTS, kind) != []
    assert sorted(map(repr, sorted_)) == sorted(map(repr, FACTS))
    assert (len(sorted_), sorted_[1]) == (len(FACTS), FACTS[1])
    others = sorted_.with_kind(Numbered, (Numbered(7), Numbered(8)))
    assert others.of_kind(Numbered) == [Numbered(7), Numbered(8)]
    assert sorted_.of_kind(Numbered) == [Numbered(0)]
    assert others.with_kind(Numbered, ()).of_kind(Numbered) == []


def test_steps_do_not_read_what_is_for_the_driver() -> None:
    packets = [pack_fact(0, fact) for fact in FACTS]
    for_driver = (OperatorFlow, EddySample, KeySketch, InputSample, TaskTime)
    found = unpack_facts_for_steps(packets)
    assert found == [fact for fact in FACTS if not isinstance(fact, for_driver)]


def test_an_error_is_raised_as_it_was() -> None:
    place = Caret("SELECT x", 7, 8)

    def work() -> Iterator[Packet]:
        yield from ()
        raise SourceError("no such column", place=place, hint="there is y")

    with pytest.raises(SourceError) as raised:
        raise_error([Drain(), *unpack_facts(errors_as_facts(work()))])
    error = raised.value
    assert (error.message, error.place, error.hint) == ("no such column", place, "there is y")


def test_an_error_of_ones_own_class_is_a_plain_one() -> None:
    class OwnError(SourceError):
        """An error that a user's function derives from ours."""

    def work() -> Iterator[Packet]:
        yield from ()
        raise OwnError("no such column", hint="there is y")

    for facts in (unpack_facts(errors_as_facts(work())), [Failure("Caret", "it", None, None)]):
        with pytest.raises(PenstockError) as raised:
            raise_error(facts)
        assert type(raised.value) is PenstockError


# Chunks


def rows(count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"#ts": pa.array(range(count), pa.int64())})


def test_a_chunk_says_what_it_replaces(tmp_path: Path) -> None:
    root = Place.of(str(tmp_path))
    (fact,) = unpack_facts(keep_chunk(root, MODULE, 5, rows(3), replaces=[CHUNK], tier=2))
    assert isinstance(fact, KeptChunk)
    assert fact.chunk is not None
    assert fact == KeptChunk(MODULE, 5, fact.chunk, (CHUNK.name,))
    assert (fact.chunk.rows, fact.chunk.tier) == (3, 2)
    assert read_rows(root, fact.chunk) == rows(3)


@pytest.mark.parametrize("none", [None, rows(0)])
def test_without_rows_others_are_only_taken_away(
    tmp_path: Path, none: pa.RecordBatch | None
) -> None:
    root = Place.of(str(tmp_path))
    (fact,) = unpack_facts(keep_chunk(root, MODULE, 5, none, replaces=[CHUNK], is_fresh=False))
    assert fact == KeptChunk(MODULE, 5, None, (CHUNK.name,), False)
    assert list(keep_chunk(root, MODULE, 5, none)) == []
    assert list(tmp_path.iterdir()) == []


def test_a_passing_chunk_replaces_nothing(tmp_path: Path) -> None:
    root = Place.of(str(tmp_path))
    (fact,) = unpack_facts([pass_chunk(root, MODULE, 5, rows(2), is_fresh=True)])
    assert isinstance(fact, PassingChunk)
    assert (fact.module, fact.chunk.rows, fact.is_fresh) == (MODULE, 2, True)
