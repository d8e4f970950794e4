"""What the demo says: titled parts on stdout, how far it is on stderr."""

from __future__ import annotations

import sys

_WIDTH = 100


def say(title: str, text: str) -> None:
    """Show a part under its title."""
    print(f"\n── {title} {'─' * (_WIDTH - 4 - len(title))}\n{text}", flush=True)


def tell(text: str) -> None:
    """Tell how far it is."""
    print(text, file=sys.stderr, flush=True)
