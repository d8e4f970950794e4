"""Golden checkpoints: what a run has left in a folder, as one file of text, and put back elsewhere.

Paths in it are written as `@HERE@`. What has a checksum gets that of its new bytes.
"""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

_HERE = "@HERE@"
_PASSING = ("checkpoint/reports", "checkpoint/lock")
"""What says when and where a run was, and nothing of its state."""


def saved(folder: Path) -> dict[str, Any]:
    """The checkpoint and the results below a folder, by the names of their files."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    kept = [name for name in names if not name.startswith(_PASSING)]
    return {name: _encoded((folder / name).read_bytes(), str(folder)) for name in kept}


def _encoded(data: bytes, here: str) -> dict[str, str]:
    """A file as text, packed text or bytes."""
    try:
        return {"packed": zlib.decompress(data).decode().replace(here, _HERE)}
    except zlib.error:
        pass
    try:
        return {"text": data.decode().replace(here, _HERE)}
    except UnicodeDecodeError:
        return {"bytes": b64encode(data).decode()}


def restored(found: dict[str, Any], folder: Path) -> None:
    """Put all files below another folder."""
    for name, file in found.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_decoded(file, str(folder)))


def _decoded(file: dict[str, str], here: str) -> bytes:
    if "bytes" in file:
        return b64decode(file["bytes"])
    if "packed" in file:
        return zlib.compress(file["packed"].replace(_HERE, here).encode())
    text = file["text"].replace(_HERE, here)
    if text.startswith('{"checksum"'):
        manifest = json.loads(text)["manifest"]
        body = json.dumps(manifest)
        text = f'{{"checksum": {zlib.crc32(body.encode())}, "manifest": {body}}}'
    return text.encode()


def write_streams(folder: Path, files: int) -> None:
    """The first files of two streams, which are the same at all times."""
    for name, step in (("a", 3), ("b", 5)):
        (folder / "in" / name).mkdir(parents=True, exist_ok=True)
        for number in range(files):
            times = [10 * number + place for place in range(0, 10, 2)]
            rows = [f"{ts},{ts * step % 4},{'xyz'[ts * step % 3]},{ts}" for ts in times]
            path = folder / "in" / name / f"{number}.csv"
            path.write_text("\n".join(["ts,k,s,v", *rows, ""]))
            os.utime(path, (1_000_000 + number, 1_000_000 + number))
