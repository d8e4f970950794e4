"""The text of a page as MkDocs needs it: links inside the site, lists and tables as on a forge."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

BROUGHT: Mapping[str, str] = {
    "benchmarks.md": "benchmarks/README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
"""Pages of the repository that are not in `docs/`, by their places in the site."""

_BLOCK = re.compile(r"^(```.*?^```)$", re.S | re.M)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_LIST_BEHIND_TEXT = re.compile(r"^(?![\s|#>-])(?!\* |\d+\. )(.+)\n(?=- |1\. )", re.M)


def site_text(markdown: str, uri: str) -> str:
    """The text of the page at that place of the site; what is in blocks stays."""
    parts = _BLOCK.split(markdown)
    parts[::2] = [_prose(part, uri) for part in parts[::2]]
    return "".join(parts)


def heading_anchor(heading: str, separator: str) -> str:
    """What a heading is linked to by, as on a forge."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def _prose(text: str, uri: str) -> str:
    text = _LINK.sub(partial(_inside, uri), text)
    text = _LIST_BEHIND_TEXT.sub(r"\1\n\n", text)
    return "\n".join(_cells(line) if line.startswith("|") else line for line in text.split("\n"))


def _cells(row: str) -> str:
    """A row of a table; inside of code a pipe needs no backslash, which would be shown."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace(r"\|", "|"), row)


def _inside(uri: str, found: re.Match[str]) -> str:
    """A link to a page of the site; of a file that is not in the site its name alone is left."""
    text, link = found.groups()
    path, hash_, anchor = link.partition("#")
    if "://" in link or not path:
        return found[0]
    source = BROUGHT.get(uri, f"docs/{uri}")
    place = _place(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)))
    if place is None:
        return text if "`" in text else f"`{text}`"
    there = posixpath.relpath(place, posixpath.dirname(uri) or ".")
    return f"[{text}]({there}{hash_}{anchor})"


def _place(target: str) -> str | None:
    """Where a file of the repository is in the site."""
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    places = {source: uri for uri, source in BROUGHT.items()}
    return places.get(target, places.get(f"{target}/README.md"))
