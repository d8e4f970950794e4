"""Tags: their texts are those that packets have always had."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.places.place import Place
from penstock.engine.wire.packet_files import PacketFiles
from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import META, READ, SLICE, TALLY, TICK, Tag, TagKind

TEXTS = {
    "meta": META,
    "read": READ,
    "slice": SLICE,
    "tick": TICK,
    "tally": TALLY,
    "new:A": Tag("new", "A"),
    "new:(A B)": Tag("new", "(A B)"),
    "ring:A": Tag("ring", "A"),
    "drive:A": Tag("drive", "A"),
    "drive#2:A": Tag("drive", "A", 2),
    "fill:(A B)": Tag("fill", "(A B)"),
    "asking#2:A": Tag("asking", "A", 2),
    "partial#0:A": Tag("partial", "A", 0),
    "partial:a:b#1@2": Tag("partial", "a:b#1@2"),
    "new:": Tag("new", ""),
    "@new:A": Tag("new", "A", is_filed=True),
    "3|@new:A|b": Tag("new", "A|b", is_filed=True, query=3),
    "0|meta": Tag("meta", query=0),
    "@meta": Tag("meta", is_filed=True),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_tag_knows_its_text(text: str) -> None:
    assert Tag.parse(text) == TEXTS[text]
    assert str(TEXTS[text]) == text


def test_every_kind_is_tried() -> None:
    assert {tag.kind for tag in TEXTS.values()} == set(get_args(TagKind))


@given(
    st.builds(
        Tag,
        st.sampled_from(get_args(TagKind)),
        st.none() | st.text(),
        st.none() | st.integers(0, 1000),
        st.booleans(),
    )
)
def test_any_tag_comes_back(tag: Tag) -> None:
    assert Tag.parse(str(tag)) == tag


@pytest.mark.parametrize(
    "text", ["", "old:A", "drive#:A", "drive#x:A", "@@new:A", "meta2", "#1:A", "|meta", "x|meta"]
)
def test_other_texts_are_no_tags(text: str) -> None:
    with pytest.raises(ValueError, match="is not the tag of a packet"):
        Tag.parse(text)


def test_a_large_packet_keeps_its_tag_in_a_file(tmp_path: Path) -> None:
    files = PacketFiles(Place.of(str(tmp_path / "transit")))
    sent = [Packet(3, Tag("drive", "A", 2), b"x" * 100_000), Packet(1, META, b"{}")]
    left = list(files.leave(sent))
    assert [str(packet.tag) for packet in left] == ["@drive#2:A", "meta"]
    found = [(p.pid, p.tag, bytes(p.data)) for p in files.fetch(left)]
    assert found == [(p.pid, p.tag, p.data) for p in sent]
