"""`--safe`: a script that is not trusted touches given folders alone."""

from __future__ import annotations

from collections.abc import Sequence

import typer

_WITH_PATHS = ("jsonl:", "parquet:")


def safe_roots(
    is_safe: bool, roots: list[str] | None, functions: str | None, written: Sequence[str]
) -> tuple[str, ...] | None:
    """The folders of a safe run, None without `--safe`; what it is to write must be there, too."""
    if not is_safe:
        if roots:
            raise typer.BadParameter("is for --safe: add it", param_hint="--root")
        return None
    if functions is not None:
        raise typer.BadParameter("runs Python, which --safe does not", param_hint="--functions")
    from penstock.engine.places.roots import Roots  # Only now: explaining needs no engine.

    found = tuple(roots or ["."])
    allowed = Roots.of(found)
    for path in filter(None, map(_path, written)):
        if allowed.stray(path) is not None:
            message = f"{path} is in none of the folders that a safe run may touch: {allowed}"
            raise typer.BadParameter(message, param_hint="--safe")
    return found


def _path(written: str) -> str | None:
    """The path of a sink, named or not, or of a checkpoint; None if it writes no files."""
    _, _, named = written.partition("=")
    sink = named if named.startswith(_WITH_PATHS) else written
    for kind in _WITH_PATHS:
        if sink.startswith(kind):
            return sink.removeprefix(kind)
    return None if sink in ("", "console", "table", "noop") or "kafka:" in sink else sink
