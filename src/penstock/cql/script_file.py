"""Scripts as bytes, from a file or from stdin."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from penstock.errors import PenstockError

_MOST = 1_000
"""Entries of a folder that are compared with the name of a file that is not there."""
_ALIKE = 0.85
"""How alike two names of files must be, 0 to 1: most of them end the same."""


def decoded(read: Callable[[], bytes], name: str) -> str:
    """The text of the bytes that are read; messages call them by the name."""
    try:
        return read().decode("utf-8-sig")
    except OSError as error:
        hint = _meant(name, error) or "give the path of a query, or - for stdin"
        raise PenstockError(f"cannot read {name}: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        what = f"{name} is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}"
        raise PenstockError(what, hint="save the query as UTF-8 text") from error


def _meant(name: str, error: OSError) -> str | None:
    """The file in the same folder that may have been meant, if this one is not there."""
    path = Path(name)
    if not isinstance(error, FileNotFoundError) or not path.parent.is_dir():
        return None
    try:
        beside = list(islice(path.parent.iterdir(), _MOST))
    except OSError:
        return None
    names = [each.name for each in beside if each.is_file()]
    near = get_close_matches(path.name, names, n=1, cutoff=_ALIKE)
    return f"did you mean {path.with_name(near[0])}?" if near else None
