"""Modules: their texts are in manifests, and so are those of 0.1."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from penstock.engine.places.place import Place
from penstock.engine.state.manifest import Manifest, commit, latest, manifest_name
from penstock.engine.state.modules import ALL_ROWS, INTERVALS, SHOWN, Module
from penstock.engine.state.store import ChunkInfo, Store

TEXTS = {
    "A@0": Module.kept("A", 0),
    "(A B)@12": Module.kept("(A B)", 12),
    "a@b@3": Module.kept("a@b", 3),
    "pending:A": Module.pending("A"),
    "ring:A": Module.ring("A"),
    "ring:x@0": Module.ring("x@0"),
    "calendar": INTERVALS,
    "shown": SHOWN,
    "rows": ALL_ROWS,
}
CHUNK = ChunkInfo("state/A@0/0/x.arrow", 3, 800, 17, -5, 9)


def test_chunks_are_the_same_whose_fields_all_are() -> None:
    same = ChunkInfo(**CHUNK.fields)
    assert (same, hash(same)) == (CHUNK, hash(CHUNK))
    for name, value in CHUNK.fields.items():
        other = f"{value}x" if isinstance(value, str) else (value or 0) + 1
        assert ChunkInfo(**{**CHUNK.fields, name: other}) != CHUNK


@pytest.mark.parametrize("text", TEXTS)
def test_a_module_is_its_text(text: str) -> None:
    assert Module(text) == TEXTS[text]
    assert str(TEXTS[text]) == text


def test_what_is_kept_in_a_space_has_a_place() -> None:
    assert Module("(A B)@12").place == ("(A B)", 12)
    assert Module("a@b@3").place == ("a@b", 3)
    for module in (Module.pending("A"), Module.ring("a@b"), INTERVALS, SHOWN, ALL_ROWS):
        assert module.place is None


def test_the_folders_of_chunks() -> None:
    assert Module.kept("A", 0).folders(3) == ("A@0", "3")
    assert Module.pending("A").folders(0) == ("pending", "A")
    assert Module.ring("a:b").folders(0) == ("ring", "a:b")
    assert INTERVALS.folders(7) == ("calendar", "7")


def test_a_manifest_of_0_1_is_read(tmp_path: Path) -> None:
    """As 0.1 wrote it: texts as the keys of modules, a list of inner ones, fewer fields."""
    chunk = {
        "name": CHUNK.name,
        "rows": 3,
        "size": 800,
        "checksum": 17,
        "first_ts": -5,
        "last_ts": 9,
        "tier": 0,
        "first_until": None,
    }
    body = json.dumps(
        {
            "batch": 4,
            "modules": {text: {"0": [chunk]} for text in TEXTS},
            "streams": {},
            "offsets": {"a": 2},
            "sequence": 0,
            "results": 1,
            "parts": [],
            "sink": "noop:",
            "sink_length": 0,
            "is_closed": False,
            "inner": ["(A B)@12"],
        }
    )
    text = f'{{"checksum": {zlib.crc32(body.encode())}, "manifest": {body}}}'
    store = Store(Place.of(str(tmp_path)))
    store.publish(manifest_name(4), text.encode())
    found = latest(store)
    assert found is not None
    assert found.modules == {module: {0: (CHUNK,)} for module in TEXTS.values()}
    assert found.inner == (Module.kept("(A B)", 12),)


def test_a_manifest_keeps_the_texts(tmp_path: Path) -> None:
    store = Store(Place.of(str(tmp_path)))
    modules = {module: {0: (CHUNK,), 1: ()} for module in TEXTS.values()}
    made = Manifest(4, modules, inner=(Module.kept("A", 0),))
    commit(store, made)
    written = json.loads(bytes(store.read(manifest_name(4))))["manifest"]
    assert list(written["modules"]) == list(TEXTS)
    assert written["inner"] == ["A@0"]
    assert latest(store) == made
