"""What the demo says: titled parts on stdout, how far it is on stderr."""

from __future__ import annotations

import shutil
import sys
from textwrap import wrap

_FEWEST, _MOST = 60, 100
_LABEL = 8
"""Columns before the text of a line of explain, which goes on below itself."""

_GAP = "   "
"""Stands between the figures of a drawing, and not in text."""


def width() -> int:
    """Columns of what is said: those of the terminal, but not more than are good to read."""
    return max(_FEWEST, min(_MOST, shutil.get_terminal_size((_MOST, 24)).columns))


def say(title: str, text: str) -> None:
    """Show a part under its title."""
    lines = "\n".join(fitted(line) for line in text.splitlines())
    print(f"\n── {title} {'─' * (width() - 4 - len(title))}\n{lines}", flush=True)


def tell(text: str) -> None:
    """Tell how far it is."""
    print(text, file=sys.stderr, flush=True)


def fitted(line: str) -> str:
    """A line of text, on several lines if it is too long for one; drawings stay as they are."""
    if len(line) <= width() or not line[:1].isalpha() or _GAP in line.rstrip()[_LABEL:]:
        return line
    return "\n".join(wrap(line, width(), subsequent_indent=" " * _LABEL))
