"""Orders: what a running query may be told from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OrderKind = Literal["stop", "replan", "pin", "shed"]


@dataclass(frozen=True)
class Order:
    """An order: `stop`; `replan` with on, advise or off; `pin` with a plan's text; `shed` with on
    or off."""

    kind: OrderKind
    value: str = ""
    number: int = 0
    """The number of its file, which its answer names."""
