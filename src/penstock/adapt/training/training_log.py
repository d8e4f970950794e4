"""The training log: the last training in the checkpoint, for a restart to plan by.

A restart has no sample and fills a new one; until then it need not do without a mesh.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from penstock.engine.state.store import Store
from penstock.errors import PenstockError
from penstock.query import Query
from penstock.stats.training import Training, operators_of

_LOG = logging.getLogger(__name__)
_FOLDER = "training"
_VERSION = 1


def save_training(store: Store, training: Mapping[str, Training]) -> None:
    """Write training in the place of what was there before."""
    old = store.names(_FOLDER)
    data = {"version": _VERSION, "training": {a: asdict(each) for a, each in training.items()}}
    store.publish(_name(_number(old) + 1), json.dumps(data).encode())
    store.remove(old)


def load_training(store: Store, query: Query) -> dict[str, Training]:
    """The training that was written last, as far as it is of the query's operators.

    Plans do not need it: where it cannot be read there is none.
    """
    try:
        names = [name for name in store.names(_FOLDER) if _is_whole(name)]
        if not names:
            return {}
        data = json.loads(bytes(store.read(names[-1])))["training"]
        found = {alias: _training(fields) for alias, fields in data.items()}
    except (PenstockError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        _LOG.warning("cannot read the last training, so that meshes are trained anew: %s", error)
        return {}
    return {alias: each for alias, each in found.items() if _fits(query, each)}


def _training(fields: Mapping[str, Any]) -> Training:
    return Training(
        str(fields["driver"]),
        tuple(fields["attributes"]),
        tuple(map(tuple, fields["values"])),
        tuple(fields["weights"]),
        tuple(fields["operators"]),
        tuple(map(tuple, fields["yields"])),
    )


def _fits(query: Query, training: Training) -> bool:
    if training.driver not in query.aliases:
        return False
    return set(training.operators) == set(operators_of(query, training.driver))


def _name(number: int) -> str:
    return f"{_FOLDER}/{number:012d}.json"


def _is_whole(name: str) -> bool:
    """Whether a file is no draft that a crash has left."""
    return not name.removeprefix(f"{_FOLDER}/").startswith(".")


def _number(names: list[str]) -> int:
    """The highest number among files; −1 without any."""
    found = [name.removeprefix(f"{_FOLDER}/").removesuffix(".json") for name in names]
    return max((int(each) for each in found if each.isdigit()), default=-1)
