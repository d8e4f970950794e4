"""Objects: what only object stores can do, and what they do better than file systems.

A file is created only if there is none; many are deleted in one request; a listing tells of each
what it is (its etag), and begins after a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from penstock.engine.places.access import OBJECT_STORES, azure_of, objects_of, settings_here
from penstock.errors import PlaceError

if TYPE_CHECKING:
    from penstock.engine.places.access import ObjectStore
    from penstock.engine.places.place import Place

_TRIES = 5
"""Times that a file is to be created whose name is taken and free again, by turns."""
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class ObjectInfo:
    """A file by its name below what was listed; `mtime` in nanoseconds since the epoch."""

    name: str
    size: int
    mtime: int
    etag: str


def is_object_store(place: Place) -> bool:
    """Whether a place is in a store of objects."""
    return place.scheme in OBJECT_STORES


def create_object(place: Place, data: bytes) -> None:
    """Write a file that must not be there yet: of several writers one succeeds.

    One that holds these very bytes is ours: the answer to an earlier try was lost on its way.
    """
    import obstore
    from obstore.exceptions import AlreadyExistsError

    store, key = _reached(place)
    for _ in range(_TRIES):
        try:
            with _told(place):
                obstore.put(store, key, data, mode="create")
            return
        except AlreadyExistsError:
            found = _content(place)
            if found == data:
                return
            if found is not None:
                break
    raise FileExistsError(str(place))


def delete_objects(folder: Place, names: Sequence[str]) -> None:
    """Delete files below a folder; one that is gone already is no error."""
    import obstore

    if names:
        store, _ = _reached(folder)
        with _told(folder):
            obstore.delete(store, [_reached(folder / name)[1] for name in names])


def move_object(old: Place, new: Place) -> None:
    """Have a file under another name; FileNotFoundError if there is none."""
    import obstore

    store, key = _reached(old)
    with _told(old):
        obstore.copy(store, key, _reached(new)[1])
        obstore.delete(store, key)


def list_objects(folder: Place, after: str | None = None) -> Iterator[ObjectInfo]:
    """The files anywhere below a folder in the order of their names, those after a name."""
    import obstore

    store, key = _reached(folder)
    prefix = f"{key}/" if key else ""
    offset = None if after is None else f"{prefix}{after}"
    with _told(folder):
        for found in obstore.list(store, prefix or None, offset=offset):
            for each in found:
                name = each["path"].removeprefix(prefix)
                # What ends in a slash stands for a folder that nothing is in.
                if name and each["path"].startswith(prefix):
                    mtime = int(each["last_modified"].timestamp() * 1_000_000) * 1_000
                    yield ObjectInfo(name, each["size"], mtime, each["e_tag"] or "")


def _content(place: Place) -> bytes | None:
    """The bytes of a file; None if there is none."""
    import obstore

    store, key = _reached(place)
    try:
        with _told(place):
            return bytes(obstore.get(store, key).bytes())
    except FileNotFoundError:
        return None


def _reached(place: Place) -> tuple[ObjectStore, str]:
    """The bucket of a place, and the key of its file there."""
    user, _, bucket = place.authority.rpartition("@")
    names = place.names
    if place.scheme in ("abfs", "abfss"):
        _, bucket = azure_of(place.authority, names)
        names = names if user else names[1:]
    told = tuple(settings_here().items())
    found = _opened(place.scheme, place.authority, place.options, bucket, told)
    return found, "/".join(names)


@lru_cache(maxsize=64)
def _opened(
    scheme: str, authority: str, options: str, bucket: str, told: tuple[tuple[str, str], ...]
) -> ObjectStore:
    return objects_of(scheme, authority, options, bucket)


@contextmanager
def _told(place: Place) -> Iterator[None]:
    """Have errors of the library be those of any file system."""
    from obstore.exceptions import AlreadyExistsError, BaseError

    try:
        yield
    except AlreadyExistsError:
        raise
    except FileNotFoundError as error:
        if _NO_BUCKET.search(str(error)):
            raise OSError(f"there is no such bucket or container, {_bucket(place)}") from None
        raise FileNotFoundError(str(place)) from None
    except (BaseError, OSError, ValueError) as error:
        raise OSError(explained(place, error)) from None


def reason_of(place: Place, error: OSError) -> str:
    """Why something could not be done with a file or folder."""
    return explained(place, error) if is_object_store(place) else error.strerror or str(error)


def explained(place: Place, error: BaseException) -> str:
    """What is wrong with a store, in a line without what only its makers understand."""
    text = str(error)
    for pattern, words in _CAUSES:
        if pattern.search(text):
            return words.format(bucket=_bucket(place))
    first = _TAG.sub(" ", text.split("\n", 1)[0])
    return " ".join(first.split())[:_LONGEST]


_LONGEST = 300
_NO_BUCKET = re.compile(r"NoSuchBucket|NO_SUCH_BUCKET|ContainerNotFound|bucket does not exist")
_CAUSES = (
    (_NO_BUCKET, "there is no such bucket or container, {bucket}"),
    (
        re.compile(
            r"InvalidAccessKeyId|SignatureDoesNotMatch|INVALID_ACCESS_KEY_ID|INVALID_CLIENT_TOKEN"
            r"|SIGNATURE_DOES_NOT_MATCH|InvalidClientTokenId|InvalidToken|ExpiredToken"
            r"|\b401\b|Unauthenticated"
        ),
        "the store does not know these credentials",
    ),
    (
        re.compile(r"AccessDenied|ACCESS_DENIED|\b403\b|PermissionDenied|Forbidden"),
        "these credentials may not do that in {bucket}",
    ),
    (
        re.compile(r"(?i)NETWORK_CONNECTION|error sending request|connect error|dns error|refused"),
        "the store cannot be reached",
    ),
)


def hint_for(text: str) -> str | None:
    """What to do about a store that is not as it was told; None if that is not known."""
    hints = {
        "no such bucket": "create it first, or mend its name; Penstock makes no buckets",
        "does not know these credentials": _CREDENTIALS,
        "credentials may not": _CREDENTIALS,
        "cannot be reached": "see that its endpoint and region are right: AWS_ENDPOINT_URL, "
        "AWS_REGION, or ?endpoint_override=… and ?region=… in the URI",
    }
    return next((hint for words, hint in hints.items() if words in text), None)


_CREDENTIALS = (
    "credentials come from the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
    "GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_KEY) or from spark.hadoop.fs.s3a.*"
)


def _bucket(place: Place) -> str:
    user, _, host = place.authority.rpartition("@")
    if place.scheme in ("abfs", "abfss"):
        return azure_of(place.authority, place.names)[1]
    return host or user


def refuse_unreachable(place: Place) -> None:
    """Refuse a store that does not answer, or does not know us: PlaceError says why."""
    try:
        next(iter(list_objects(place)), None)
    except OSError as error:
        raise PlaceError(f"cannot use {place}: {error}", hint=hint_for(str(error))) from None
