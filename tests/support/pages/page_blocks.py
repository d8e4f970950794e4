"""The fenced blocks of a page, each with its kind and, if it is a file, its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r'^```(\w*)(?: title="([^"\n]+)")?[^\n]*\n(.*?)^```$', re.S | re.M)


@dataclass(frozen=True)
class Block:
    """A block of a page. With a title it is a file that readers write."""

    kind: str
    title: str
    text: str


def blocks_of(page: Path) -> tuple[Block, ...]:
    """All blocks of a page, in their order."""
    return tuple(Block(*found) for found in _BLOCK.findall(page.read_text(encoding="utf-8")))
