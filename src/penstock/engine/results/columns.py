"""The columns of a query's results, as its checkpoint keeps them for readers."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

import pyarrow as pa

from penstock.engine.sinks.sink import result_schema
from penstock.engine.state.store import RESTORE, Store
from penstock.errors import CheckpointError
from penstock.query import Query

_NAME = "results.json"
_VERSION = 1


@dataclass(frozen=True)
class ResultColumns:
    """The columns that results have, in their order; those of a view tell its changes."""

    schema: pa.Schema
    is_view: bool = False

    @classmethod
    def of(cls, query: Query) -> ResultColumns:
        """The columns of a query; of one that may be shed, with the ends of intervals."""
        return cls(result_schema(query), query.view is not None)


def write_columns(store: Store, columns: ResultColumns) -> None:
    """Say in a checkpoint which columns its results have, in the place of what was said before."""
    data = {
        "version": _VERSION,
        "view": columns.is_view,
        "columns": {field.name: str(field.type) for field in columns.schema},
        # Texts of types cannot all be read back.
        "arrow": base64.b64encode(columns.schema.serialize()).decode(),
    }
    store.replace(_NAME, json.dumps(data, indent=1, ensure_ascii=False).encode())


def has_columns(store: Store) -> bool:
    """Whether a checkpoint says which columns its results have."""
    return store.exists(_NAME)


def read_columns(store: Store) -> ResultColumns:
    """The columns of a checkpoint's results."""
    if not has_columns(store):
        raise CheckpointError(
            f"checkpoint {store.root} does not say which columns its results have",
            hint="its query has not begun yet, or an earlier version ran it: run it again first",
        )
    try:
        with store.open(_NAME) as file:
            found = json.loads(file.read())
        arrow = pa.py_buffer(base64.b64decode(found["arrow"]))
        return ResultColumns(pa.ipc.read_schema(arrow), bool(found["view"]))
    except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise CheckpointError(f"{store.path(_NAME)} is damaged: {error}", hint=RESTORE) from None
