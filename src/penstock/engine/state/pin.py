"""The pin of a checkpoint: a plan that a run was ordered to follow, and later runs follow too."""

from __future__ import annotations

import json

from penstock.engine.state.store import Store
from penstock.errors import PenstockError

_NAME = "plans/pinned.json"
_VERSION = 1


def write_pin(store: Store, plan: str) -> None:
    """Pin a plan, by its text, in the place of one that was pinned before."""
    store.replace(_NAME, json.dumps({"version": _VERSION, "plan": plan}).encode())


def remove_pin(store: Store) -> None:
    """Pin nothing any more; drafts that a crash has left go too."""
    store.remove([name for name in store.names("plans") if "pinned.json" in name])


def read_pin(store: Store) -> str | None:
    """The text of the plan that is pinned; None if none is that can be read.

    A plan changes no results, so what is damaged here ends no run.
    """
    try:
        if not store.exists(_NAME):
            return None
        with store.open(_NAME) as file:
            found = json.loads(file.read())["plan"]
    except (PenstockError, OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) else None
