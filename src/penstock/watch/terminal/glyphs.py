"""Small pictures made of characters, and texts that do nothing to a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

_STEPS = "▁▂▃▄▅▆▇█"
_GAP, _FULL, _EMPTY = " ", "█", "░"


def printable(text: str) -> str:
    """A text on one line, with no character that a terminal would obey."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def cut(text: str, width: int) -> str:
    """As much of a line as there is room for."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """The last values as a line of bars from zero to the highest; a gap where one is not known."""
    shown = [each if each is not None and math.isfinite(each) else None for each in values[-width:]]
    top = max((each for each in shown if each is not None), default=0.0)
    return "".join(_GAP if each is None else _step(each, top) for each in shown)


def _step(value: float, top: float) -> str:
    part = value / top if top > 0 else 0.0
    return _STEPS[min(int(max(part, 0.0) * len(_STEPS)), len(_STEPS) - 1)]


def bar(part: float, width: int) -> str:
    """A part of a whole, 0 to 1, as a bar."""
    filled = round(min(max(part, 0.0), 1.0) * width) if math.isfinite(part) else 0
    return _FULL * filled + _EMPTY * (width - filled)
