"""Manifests: the state after a batch. Manifest n is the one commit point of batch n."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import Any

from penstock.engine.places import disk
from penstock.engine.state.gaps import Gap, Gaps
from penstock.engine.state.listing.chain import (
    Link,
    chained,
    follows,
    is_small,
    joined,
    since_of,
)
from penstock.engine.state.modules import Module, Modules, sizes_of
from penstock.engine.state.store import RESTORE, ChunkInfo, Store, storage_errors
from penstock.errors import CheckpointError

_FOLDER = "manifests"
_CHAIN = "chain"
_OWN = ""
"""Whose state it is in a chain that belongs to no query of a script."""
_HEAD = re.compile(rb'\{"checksum": \d+, "manifest": ')
_LOOKS = 20
"""How often manifests are listed that are gone before they are read."""


class MissingLinkError(CheckpointError):
    """A manifest is gone that another is to be read with."""


@dataclass(frozen=True)
class StreamState:
    """How far a source has come. Times are event time, microseconds; None before the first tuple.

    `highest` is the last event time so far, `lowest` the first one that was not shed: a shed tuple
    was never there, but tells how far its stream has come. `passed` is the frontier at which others
    went on while this source was silent, so that earlier tuples of it are late. `rows` counts the
    sound rows, of which `late` were dropped; the `malformed` are not among them, nor is anything of
    the `unreadable` files. Of a source in partitions, `parts` has the last event time of each, and
    `passed` what the least of them has made late: a partition that comes later cannot go back.
    """

    highest: int | None = None
    lowest: int | None = None
    passed: int | None = None
    rows: int = 0
    late: int = 0
    malformed: int = 0
    unreadable: int = 0
    parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def met(self) -> int:
        """The rows that were met: sound and malformed ones."""
        return self.rows + self.malformed


@dataclass(frozen=True)
class StagedPart:
    """A file of results that a task has written; `staged` as its file system calls it."""

    staged: str
    rows: int
    size: int


@dataclass(frozen=True)
class Part:
    """A file of results, written by one task: staged first, then published under its final name."""

    staged: str
    final: str
    rows: int
    size: int

    @property
    def text(self) -> str:
        """Its fields as JSON: there may be thousands of parts."""
        staged, final = encode_basestring_ascii(self.staged), encode_basestring_ascii(self.final)
        return f'{{"staged": {staged}, "final": {final}, "rows": {self.rows}, "size": {self.size}}}'


@dataclass(frozen=True)
class KeptFile:
    """A file of malformed rows, as long as it was `before` a batch, and what the batch adds."""

    path: str
    before: int = 0
    parts: tuple[Part, ...] = ()

    @property
    def length(self) -> int:
        """Its bytes after the batch."""
        return self.before + sum(part.size for part in self.parts)


@dataclass(frozen=True)
class Manifest:
    """The state after a batch, as its file in the checkpoint says; the fields are those of JSON."""

    batch: int
    """The number of the batch, from 0 on."""

    modules: Modules = field(default_factory=dict)
    """The chunks of each module, by partition."""

    streams: Mapping[str, StreamState] = field(default_factory=dict)
    """How far each source has come, by its name."""

    offsets: Mapping[str, int] = field(default_factory=dict)
    """Where the next batch goes on in each source, by its name, as the feed counts."""

    sequence: int = 0
    """How many tuples have been numbered (queries with ROWS windows)."""

    results: int = 0
    """How many results there have been so far."""

    parts: tuple[Part, ...] = ()
    """The files of results that this batch publishes."""

    sink: str = ""
    """Where the results go."""

    sink_length: int = 0
    """The bytes of a jsonl sink before the results of this batch."""

    sink_positions: Mapping[int, int] = field(default_factory=dict)
    """Offsets in each partition of a Kafka sink before the results of this batch."""

    is_closed: bool = False
    """Whether the streams have been drained, so that no batch follows."""

    inner: tuple[Module, ...] = ()
    """The modules of inner joins that are there, with or without chunks."""

    total_shed: Mapping[str, int] = field(default_factory=dict)
    """How many tuples the drop box of each input has shed so far, by alias."""

    weighted: tuple[str, ...] = ()
    """The inputs whose rows may stand for several tuples."""

    sampled: tuple[str, ...] = ()
    """The inputs of a view whose tuples may stand for others that were shed."""

    shed_times: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By alias, the least and the greatest event time of what came to an input of a view while it
    was shed, as long as any of it would be in a window."""

    has_ends: bool = False
    """Whether results of a view have the ends of their intervals; they keep these columns."""

    is_recomputed: bool = False
    """Whether a view was recomputed; it has no interval table then."""

    kept: tuple[KeptFile, ...] = ()
    """The files of malformed rows that runs have written to."""

    screened: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By alias, how many tuples came to an input's filters, and how many passed."""

    gaps: Mapping[Module, Gaps] = field(default_factory=dict)
    """What inner modules lack that fill themselves; the others are whole."""

    results_by: str = ""
    """The text of the plan that gave the results: while inner state fills itself, an earlier one's
    or the multi-way join's."""

    renewed: int | None = None
    """The last batch before which a table got another version, None if there is none."""

    members: Mapping[str, Manifest] = field(default_factory=dict)
    """Of a script, the state of each of its queries by name, each in a folder of its own."""

    takers: tuple[str, ...] = ()
    """Of a query of a script that finds combinations for others, the names of these."""

    taken_parts: tuple[tuple[str, ...], ...] = ()
    """The sets of some of its inputs whose combinations others have taken: since then tuples are
    kept that have no key in the rest."""

    placed_by: Mapping[str, str] = field(default_factory=dict)
    """By the text of a module, the key by which it is kept: that of an input which others take
    combinations of may go with them, and keys be numbered anew."""

    unknown_keys: tuple[tuple[str, str], ...] = ()
    """The inputs and keys of these of which tuples are kept that are NULL there."""

    def chunks(self) -> Iterable[ChunkInfo]:
        """All chunks of all modules; those of a script's queries are in the manifests of these."""
        for partitions in self.modules.values():
            for chunks in partitions.values():
                yield from chunks

    @property
    def lines(self) -> KeptFile | None:
        """The jsonl file of the results, as long as it was before the batch, and what the batch
        adds; None if they are not in one."""
        kind, _, path = self.sink.partition(":")
        return KeptFile(path, self.sink_length, self.parts) if kind == "jsonl" else None

    @property
    def state_tuples(self) -> int:
        return sum(rows for rows, _ in self.sizes.values())

    @cached_property
    def sizes(self) -> dict[Module, tuple[int, int]]:
        """The rows and the bytes of each module."""
        return {module: sizes_of(parts.values()) for module, parts in self.modules.items()}


def manifest_name(batch: int) -> str:
    """The file of a batch's manifest; names sort as numbers do."""
    return f"{_FOLDER}/{batch:012d}.json"


def make_room(store: Store) -> None:
    """Have a folder for manifests, so that it is flushed with the first batch: a power cut after
    that must not take it away, with the manifest in it."""
    if store.is_local:
        with storage_errors("write", store.path(_FOLDER)):
            disk.make_folders(store.root / _FOLDER)


def commit(store: Store, manifest: Manifest, last: Link | None = None) -> Link:
    """Make a batch final; refuses to replace another run's manifest.

    Of a large state only what is not in the manifest before is written, if `last` tells what that
    is. The link is for the next one.
    """
    states = _states(manifest)
    chain = None if is_small(states) else chained(manifest.batch, states, last)
    body = json.dumps(_to_json(manifest)) if chain is None else _with_lists(manifest, chain.text)
    checksum = zlib.crc32(body.encode())
    data = f'{{"checksum": {checksum}, "manifest": {body}}}'
    store.refuse_fenced()
    try:
        store.publish(manifest_name(manifest.batch), data.encode())
        store.flush_folder(_FOLDER)
    except FileExistsError:
        raise _committed(store, manifest.batch) from None
    if chain is None:
        return Link(manifest.batch, checksum, states)
    return Link(manifest.batch, checksum, states, chain.turns, chain.next_turn)


def refuse_overtaken(store: Store, batch: int) -> None:
    """Refuse to go on from a batch that a run which was fenced off has gone beyond: it was about to
    commit when its checkpoint was taken over."""
    if store.fence is None:
        return
    # A query of a script has none of its own.
    names = manifest_names(Store(store.fence.root))
    if names and names[-1] > manifest_name(batch):
        raise _committed(store, batch + 1)


def _committed(store: Store, batch: int) -> CheckpointError:
    if store.fence is None:
        hint = "two runs must not share a checkpoint: stop one of them"
    else:
        hint = "the run before ended with it just now: nothing is lost, so run again"
    return CheckpointError(f"batch {batch} of {store.root} was committed by another run", hint=hint)


def manifest_names(store: Store) -> list[str]:
    """The files of the manifests that are there, the newest last."""
    return [n for n in store.names(_FOLDER) if n.endswith(".json") and "/." not in n]


def latest(store: Store) -> Manifest | None:
    """The newest manifest, or None before the first batch."""
    names = manifest_names(store)
    return load(store, names[-1]) if names else None


def before(store: Store, standing: Manifest) -> Manifest | None:
    """The manifest before one, which a run goes back to where that one is damaged; None if there
    is none that can be read."""
    names = [name for name in manifest_names(store) if name < manifest_name(standing.batch)]
    try:
        return load(store, names[-1]) if names else None
    except (CheckpointError, FileNotFoundError):
        return None


def newest(store: Store, count: int) -> list[Manifest]:
    """The newest manifests, the very newest first, while a run may go on that deletes old ones."""
    missing: OSError | MissingLinkError | None = None
    for _ in range(_LOOKS):
        names = manifest_names(store)
        try:
            return [load(store, name) for name in names[::-1][:count]]
        except (FileNotFoundError, MissingLinkError) as error:
            missing = error  # Batches may have passed since it was listed.
    if isinstance(missing, MissingLinkError):
        raise missing
    raise CheckpointError(
        f"the manifests of {store.root} come faster than they can be read",
        hint="try again while its query has less to do",
    )


def load(store: Store, name: str) -> Manifest:
    """A manifest by its file name."""
    try:
        facts = _read(store, name)[0]
        chain = facts.pop(_CHAIN, None)
        return _from_json(facts if chain is None else _with_states(store, facts, chain))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise CheckpointError(
            f"manifest {store.path(name)} is damaged: {error}",
            hint=RESTORE,
        ) from None


def read_since(store: Store, batch: int) -> int:
    """The first of the manifests that one is read with: itself, if it lists all there is."""
    try:
        chain = _read(store, manifest_name(max(batch, 0)))[0].get(_CHAIN)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return batch
    return batch if chain is None else since_of(chain)


def forget(store: Store, before: int) -> None:
    """Delete the manifests of batches before the given one, which none of the others is read
    with."""
    first = manifest_name(max(before, 0))
    store.remove([n for n in store.names(_FOLDER) if n < first])


def _read(store: Store, name: str) -> tuple[dict[str, Any], int]:
    """The fields of a manifest as its file has them, and their checksum."""
    data = bytes(store.read(name))
    head = _HEAD.match(data)
    found = json.loads(data)
    # What was written in other white space is still the same.
    body = json.dumps(found["manifest"]).encode() if head is None else data[head.end() : -1]
    if zlib.crc32(body) != found["checksum"]:
        raise ValueError("wrong checksum")
    return found["manifest"], found["checksum"]


# Manifests that are read with those before them


def _states(manifest: Manifest) -> dict[str, Modules]:
    members = {name: member.modules for name, member in manifest.members.items()}
    return {_OWN: manifest.modules, **members}


def _with_lists(manifest: Manifest, chain: str) -> str:
    """A manifest as JSON, with the texts of what it has thousands of in their places."""
    members = {name: replace(each, modules={}) for name, each in manifest.members.items()}
    fields = _to_json(replace(manifest, modules={}, parts=(), members=members))
    del fields["parts"]
    parts = ", ".join([part.text for part in manifest.parts])
    return f'{json.dumps(fields)[:-1]}, "parts": [{parts}], "{_CHAIN}": {chain}}}'


def _with_states(store: Store, facts: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """The fields of a manifest with its chunks, which take the manifests before it."""
    links, since = [last], since_of(last)
    while (found := follows(links[-1], since)) is not None:
        batch, checksum = found
        try:
            before, theirs = _read(store, manifest_name(batch))
        except FileNotFoundError:
            path = store.path(manifest_name(batch))
            message = f"manifest {path} is missing, which others are read with"
            raise MissingLinkError(message, hint=RESTORE) from None
        if theirs != checksum:
            raise ValueError(f"it does not follow manifest {batch}, which is another one's")
        links.append(before[_CHAIN])
    states = joined(reversed(links))
    members = {
        name: {**member, "modules": states.get(name, {})}
        for name, member in facts["members"].items()
    }
    return {**facts, "modules": states.get(_OWN, {}), "members": members}


def _to_json(manifest: Manifest) -> dict[str, Any]:
    plain = replace(manifest, modules={}, inner=(), gaps={}, members={}, parts=())
    fields = asdict(plain)
    # There may be thousands of them, of which plain copies would take long.
    fields["parts"] = [vars(part) for part in manifest.parts]
    fields["modules"] = {
        str(module): {pid: [chunk.fields for chunk in chunks] for pid, chunks in parts.items()}
        for module, parts in manifest.modules.items()
    }
    fields["inner"] = [str(module) for module in manifest.inner]
    fields["gaps"] = {
        str(module): [[list(gap.members), gap.until] for gap in gaps]
        for module, gaps in manifest.gaps.items()
    }
    fields["members"] = {name: _to_json(member) for name, member in manifest.members.items()}
    return fields


def _from_json(facts: dict[str, Any]) -> Manifest:
    modules = {
        Module(str(module)): {int(p): _infos(chunks) for p, chunks in parts.items()}
        for module, parts in facts.pop("modules").items()
    }
    streams = {name: StreamState(**s) for name, s in facts.pop("streams").items()}
    parts = _parts(facts.pop("parts"))
    kept = tuple(KeptFile(**k | {"parts": _parts(k["parts"])}) for k in facts.pop("kept", ()))
    facts["inner"] = tuple(map(Module, facts.get("inner", ())))
    facts["gaps"] = {
        Module(module): tuple(Gap(tuple(members), until) for members, until in gaps)
        for module, gaps in facts.get("gaps", {}).items()
    }
    facts |= {name: tuple(facts.get(name, ())) for name in ("weighted", "sampled", "takers")}
    for name in ("taken_parts", "unknown_keys"):
        facts[name] = tuple(map(tuple, facts.get(name, ())))
    facts["screened"] = {a: (int(t), int(p)) for a, (t, p) in facts.get("screened", {}).items()}
    facts["shed_times"] = {a: (int(f), int(t)) for a, (f, t) in facts.get("shed_times", {}).items()}
    facts["sink_positions"] = {int(p): n for p, n in facts.get("sink_positions", {}).items()}
    facts["members"] = {name: _from_json(m) for name, m in facts.get("members", {}).items()}
    # 0.1 called it otherwise.
    facts["is_recomputed"] = facts.pop("is_anew", facts.get("is_recomputed", False))
    return Manifest(modules=modules, streams=streams, parts=parts, kept=kept, **facts)


def _infos(chunks: Iterable[dict[str, Any] | ChunkInfo]) -> tuple[ChunkInfo, ...]:
    return tuple(c if isinstance(c, ChunkInfo) else ChunkInfo(**c) for c in chunks)


def _parts(facts: list[dict[str, Any]]) -> tuple[Part, ...]:
    return tuple(Part(**part) for part in facts)
