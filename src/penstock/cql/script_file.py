"""Scripts as bytes, from a file or from stdin."""

from __future__ import annotations

from collections.abc import Callable

from penstock.errors import PenstockError


def decoded(read: Callable[[], bytes], name: str) -> str:
    """The text of the bytes that are read; messages call them by the name."""
    try:
        return read().decode("utf-8-sig")
    except OSError as error:
        hint = "give the path of a query, or - for stdin"
        raise PenstockError(f"cannot read {name}: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        what = f"{name} is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}"
        raise PenstockError(what, hint="save the query as UTF-8 text") from error
