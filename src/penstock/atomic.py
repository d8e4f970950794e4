"""Atomic writes: a file or folder is seen whole or not at all.

These replace what is there. A commit does not go this way: `Store.publish` of engine/state must
never replace another run's file, and flushes its own to the disk before anybody sees it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to: it is renamed to it at the end, or deleted on an error.

    Whatever file stood there before stays until then.
    """
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        yield draft
        os.replace(draft, path)
    except BaseException:
        _delete(draft)
        raise


def write_text(path: Path, text: str, mode: int | None = None) -> None:
    """Write a text file, with these permissions if any are given."""
    with draft_of(path) as draft:
        draft.write_text(text, encoding="utf-8")
        if mode is not None:
            draft.chmod(mode)


def _delete(draft: Path) -> None:
    if draft.is_dir():
        import shutil  # Too slow to import for what hardly ever happens.

        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink()
