"""File names: how the names of streams become some, and which of them only Penstock gives."""

from __future__ import annotations

import re
import uuid
from hashlib import sha256
from urllib.parse import quote

# File systems take 255 bytes; something may be put before or after the name.
_MOST_BYTES = 255
_LONGEST = 200
_HEAD = 100

_UNIQUE = r"[0-9a-f]{32}"
_MARK = r"[0-9a-f]{16}"
_PART = re.compile(rf"part-(?P<batch>\d{{8,}})-\d{{4,}}-(?P<mark>{_MARK})\.parquet")
_NUMBERED = rf"\d{{12}}\.json|\.\d{{12}}\.json\.{_UNIQUE}"
_SPAN = r"\d{12}-\d{12}\.json"
# People may write orders by hand, with a number alone.
_ORDER = rf"\d{{1,12}}(?:-{_UNIQUE})?\.json"
_OWN = re.compile(
    rf"state/.+/{_UNIQUE}\.arrow"
    rf"|transit/\d+/{_UNIQUE}"
    rf"|derived/{_UNIQUE}\.arrow"
    rf"|spool/(?:{_UNIQUE}\.arrow|{_NUMBERED}|tables\.json|\.tables\.json\.{_UNIQUE})"
    rf"|malformed/{_UNIQUE}\.jsonl"
    rf"|(?:manifests|feed|training|decisions|plans|epochs)/(?:{_NUMBERED})"
    rf"|plans/(?:pinned\.json|\.pinned\.json\.{_UNIQUE})"
    rf"|reports/(?:\d{{12}}\.jsonl|\.run\.json\.{_UNIQUE})"
    rf"|control/{_ORDER}|control/\.{_ORDER}\.{_UNIQUE}"
    rf"|tables/.+/(?:{_UNIQUE}(?:\.[0-9a-z]{{1,8}})?|{_NUMBERED})"
    rf"|sources/.+/(?:{_SPAN}|\.{_SPAN}\.{_UNIQUE})"
    # Entries of Spark's logs in the folder that it was given for them, and half-written ones.
    r"|spark/(?:offsets|commits)/(?:\d+|\.\d+\.crc|\.+\d+\.[0-9a-f-]{36}\.tmp(?:\.crc)?)"
    r"|spark/\.?metadata(?:\.crc)?"
)


def unique_name(ending: str = "") -> str:
    """A name that no other file has or will have."""
    return f"{uuid.uuid4().hex}{ending}"


def is_unique_name(name: str) -> bool:
    """Whether a name is one of those, without an ending."""
    return re.fullmatch(_UNIQUE, name) is not None


def is_own(name: str) -> bool:
    """Whether a file of a checkpoint has a name that only Penstock, or Spark for it, gives."""
    return _OWN.fullmatch(name) is not None


def as_file_name(name: str) -> str:
    """A stream's name, whatever is in it, as the name of one file or folder.

    Different names stay different. Letters, digits, `_`, `-`, `@` and `+` are as they were; other
    characters are percent-encoded, so that none leads elsewhere, is hidden or means something.
    """
    encoded = quote(name, safe="@+").replace(".", "%2E").replace("~", "%7E") or "%"
    if len(encoded) <= _LONGEST:
        return encoded
    return f"{encoded[:_HEAD]}%-{sha256(name.encode()).hexdigest()}"


def new_mark() -> str:
    """A mark that tells the files of one checkpoint from all others."""
    return uuid.uuid4().hex[:16]


def is_mark(text: str) -> bool:
    """Whether a text is one of those."""
    return re.fullmatch(_MARK, text) is not None


def staged_name(kind: str) -> str:
    """A new file of results that are not final."""
    return unique_name(f".{kind}")


def staging_name(name: str, mark: str) -> str:
    """The hidden folder beside a file, for what is to be appended to it."""
    return _beside(name, f"staging-{mark}")


def signature_name(name: str) -> str:
    """The hidden file beside one of lines that says how Penstock has begun it."""
    return _beside(name, "penstock")


def _beside(name: str, ending: str) -> str:
    whole = f".{name}.{ending}"
    if len(whole.encode()) <= _MOST_BYTES:
        return whole
    return f".{sha256(name.encode()).hexdigest()}.{ending}"


def is_staged(name: str) -> bool:
    """Whether a file is one of those, or one that a batch was begun in."""
    return re.fullmatch(rf"{_UNIQUE}\.(?:parquet|jsonl|records)|begun-\d+", name) is not None


def is_begun(name: str) -> bool:
    """Whether a file is one that a batch was begun in."""
    return name.startswith("begun-")


def begun_name(batch: int) -> str:
    """The name by which a file of lines is found again that a batch is being appended to."""
    return f"begun-{batch}"


def part_name(batch: int, number: int, mark: str) -> str:
    """A file of a batch's results, signed."""
    return f"part-{batch:08d}-{number:04d}-{mark}.parquet"


def mark_of_part(name: str) -> str | None:
    """With which mark a file of results is signed."""
    found = _PART.fullmatch(name)
    return found and found["mark"]


def batch_of_part(name: str) -> int:
    """The batch whose results a file has, which is signed."""
    found = _PART.fullmatch(name)
    assert found is not None, f"{name} is not signed"
    return int(found["batch"])
