"""The fenced blocks of a page, each with its kind and, if it is a file, its name.

A block that no test runs has a comment before it, which pages do not show: `<!-- not run: why -->`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<why_not>[^\n]+) -->\n)?"
    r'^```(?P<kind>\w*)(?: title="(?P<title>[^"\n]+)")?[^\n]*\n(?P<text>.*?)^```$',
    re.S | re.M,
)


@dataclass(frozen=True)
class Block:
    """A block of a page. With a title it is a file that readers write."""

    kind: str
    title: str
    text: str
    why_not: str = ""
    """Why no test runs it; empty of those that are run."""


def blocks_of(page: Path) -> tuple[Block, ...]:
    """All blocks of a page, in their order."""
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return tuple(Block(**each.groupdict(default="")) for each in found)
