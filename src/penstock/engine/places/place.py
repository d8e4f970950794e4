"""Places: where files lie, on local disk or on any file system that pyarrow reaches."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
from urllib.parse import quote, unquote

import pyarrow as pa
from pyarrow import fs

from penstock.engine.places import disk
from penstock.engine.places.access import (
    AZURE_DOMAIN,
    S3Access,
    azure_filesystem,
    check_library,
    settings_here,
)
from penstock.engine.places.objects import delete_objects, is_object_store
from penstock.engine.places.side_by_side import side_by_side
from penstock.errors import PlaceError

LOCAL = "file"
# `file:/x` is a URI as well; of other schemes a name such as `a:/b` may well be a path.
_IS_URI = re.compile(r"[a-z][a-z0-9+.-]*://|file:/", re.IGNORECASE)
_URI = re.compile(r"([^:]+):(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(#.*)?", re.DOTALL)
_SAME_SCHEME = {"local": LOCAL, "gcs": "gs", "s3a": "s3", "s3n": "s3"}
# With and without TLS the files are the same.
_SAME_FILES = {"abfss": "abfs"}
# Where the name before `@` says who asks; elsewhere (abfs) it says where to look.
_NAMES_A_USER = ("s3", "gs", "hdfs", "viewfs")
# Where that name is a key, and so of no use without what belongs to it.
_KEYS_FOR_USERS = ("s3",)
# As Hadoop calls the file systems that pyarrow calls otherwise.
_HADOOP_SCHEMES = {"s3": "s3a"}
_GLOB = re.compile(r"([\[\]{}*?\\])")
_SECRET = re.compile(r"(?i)((?:^|&)[^=&]*(?:secret|token|password|sig|key)[^=&]*=)[^&]*")
_ENDPOINT = re.compile(r"(?:^|&)(endpoint_override=[^&]*)")
# A password that ends too early, at a character that means something else.
_CUT_OFF = re.compile(r"[^@:\[]*:(?!\d*$)[^@]*")
_UNQUOTED = "/=:@+,~!$&'()*;"
# Names that lead nowhere, or out of a folder.
_ELSEWHERE = frozenset(("", ".", ".."))


@dataclass(frozen=True, eq=False, repr=False)
class Place:
    """A file or folder: a path or URI, taken apart once. `names` lead to it from the root.

    Places are the same if the same files are meant, however they are written and reached: options
    and credentials do not count. Printed, a place hides its secrets; `text` has them.
    """

    scheme: str
    authority: str
    names: tuple[str, ...]
    options: str = ""

    @classmethod
    def of(cls, location: str | os.PathLike[str] | Place) -> Place:
        """The place of a path or URI; relative paths start where the process does."""
        if isinstance(location, Place):
            return location
        text = os.fspath(location)
        if not text:
            raise PlaceError("an empty path is no place for files", hint="name a file or folder")
        _check(text)
        if not _IS_URI.match(text):
            return cls(LOCAL, "", _names(os.path.abspath(text)))
        return _parsed(text)

    def __truediv__(self, below: str) -> Place:
        """The place of a name below this one, or of several with `/` between them."""
        _check_below(self, below)
        names = tuple(below.split("/"))
        return Place(self.scheme, self.authority, self.names + names, self.options)

    @property
    def parent(self) -> Place:
        return Place(self.scheme, self.authority, self.names[:-1], self.options)

    @property
    def name(self) -> str:
        return self.names[-1] if self.names else ""

    # Writing it down

    @property
    def text(self) -> str:
        """A text that gives this place again, in any process."""
        return self._written(self.authority, self.options)

    @property
    def plain(self) -> str:
        """The same without credentials, to be kept where others may read it."""
        if self.is_local:
            return self.text
        user, at, host = self.authority.rpartition("@")
        name = "" if self.scheme in _KEYS_FOR_USERS else user.partition(":")[0]
        options = "&".join(o for o in self.options.split("&") if not _SECRET.match(o))
        return self._written(f"{name}{name and at}{host}", options)

    def like(self, known: Place) -> Place:
        """This place, reached as one in the same store is that is known."""
        if not self.is_in_store_of(known) or self.is_local:
            return self
        return Place(known.scheme, known.authority, self.names, known.options)

    def is_in_store_of(self, other: Place) -> bool:
        """Whether both lie in the same store."""
        return Place(*self._store, ()) == Place(*other._store, ())

    def at(self, path: str) -> Place:
        """The place in the same store that its file system calls so, as it does this one."""
        below = _names(posixpath.relpath(path, self._opened[1]))
        return Place(self.scheme, self.authority, below, self.options)

    @property
    def _store(self) -> tuple[str, str]:
        return self.scheme, self.authority

    def __str__(self) -> str:
        """The place for people to read, without passwords."""
        user, at, host = self.authority.rpartition("@")
        name, colon, _ = user.partition(":")
        authority = f"{name}{colon and ':***'}{at}{host}"
        return self._written(authority, _SECRET.sub(r"\1***", self.options))

    def __repr__(self) -> str:
        return f"Place({str(self)!r})"

    def _written(self, authority: str, options: str) -> str:
        if self.is_local and not options:
            return self._inside
        tail = f"?{options}" if options else ""
        return f"{self.scheme}://{authority}{quote(self._inside, safe=_UNQUOTED)}{tail}"

    @property
    def for_spark(self) -> str:
        """The place as Hadoop writes it: it knows no options, and nothing is quoted."""
        user, _, host = self.authority.rpartition("@")
        keeps_user = user and self.scheme not in _NAMES_A_USER
        authority = f"{user.partition(':')[0]}@{host}" if keeps_user else host
        scheme = _HADOOP_SCHEMES.get(self.scheme, self.scheme)
        return f"{scheme}://{authority}{self._inside}"

    @property
    def pattern_for_spark(self) -> str:
        """The same where Spark takes patterns: one that only this file matches."""
        return _GLOB.sub(r"\\\1", self.for_spark)

    # Comparing

    @cached_property
    def where(self) -> str:
        """A text that all ways to write this place have in common."""
        if self.is_local:
            return self._inside
        user, _, host = self.authority.rpartition("@")
        container = "" if self.scheme in _NAMES_A_USER else user.partition(":")[0]
        endpoint = "".join(_ENDPOINT.findall(self.options))
        scheme = _SAME_FILES.get(self.scheme, self.scheme)
        return f"{scheme}://{container}@{host}{self._inside}?{endpoint}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.where == other.where

    def __hash__(self) -> int:
        return hash(self.where)

    # Reaching it

    @property
    def is_local(self) -> bool:
        return self.scheme == LOCAL

    @property
    def filesystem(self) -> fs.FileSystem:
        return self._opened[0]

    @property
    def path(self) -> str:
        """The place as its file system calls it."""
        if self.is_local:
            return self._inside
        return posixpath.join(self._opened[1], *self.names)

    @property
    def _opened(self) -> tuple[fs.FileSystem, str]:
        told = tuple(settings_here().items()) if is_object_store(self) else ()
        return _opened(self.scheme, self.authority, self.options, told)

    def __fspath__(self) -> str:
        if not self.is_local:
            raise TypeError(f"{self} is not a local file")
        return self._inside

    @property
    def _inside(self) -> str:
        return f"/{'/'.join(self.names)}"

    def info(self) -> fs.FileInfo:
        """The file or folder that is there, or nothing."""
        return self.filesystem.get_file_info(self.path)

    @property
    def exists(self) -> bool:
        return bool(self.info().type != fs.FileType.NotFound)

    @property
    def is_file(self) -> bool:
        return bool(self.info().type == fs.FileType.File)

    def has_any(self, paths: list[str]) -> bool:
        """Whether one of some files is there, each as the file system of this place calls it."""
        infos = self.filesystem.get_file_info(paths)
        return any(info.type == fs.FileType.File for info in infos)

    def files(self, *, recursive: bool = False) -> Iterator[tuple[str, fs.FileInfo]]:
        """The files in a folder by their names below it; none if there is no such folder."""
        for name, info in self.entries(recursive=recursive):
            if info.type == fs.FileType.File:
                yield name, info

    def entries(self, *, recursive: bool = False) -> Iterator[tuple[str, fs.FileInfo]]:
        """The files and folders in a folder by their names below it, in the order of these."""
        base = self.path
        selector = fs.FileSelector(base, recursive=recursive, allow_not_found=True)
        for info in sorted(self.filesystem.get_file_info(selector), key=attrgetter("path")):
            yield info.path[len(base) :].lstrip("/"), info

    def delete(self, names: list[str]) -> None:
        """Delete files below a folder, many of them side by side; one that is gone already is no
        error."""
        if is_object_store(self):
            delete_objects(self, names)
            return
        side_by_side(self._delete, names)

    def _delete(self, names: Sequence[str]) -> None:
        filesystem, base = self.filesystem, self.path.rstrip("/")
        remove = disk.unlink if self.is_local else filesystem.delete_file
        for name in names:
            _check_below(self, name)
            with suppress(FileNotFoundError):
                remove(f"{base}/{name}")

    def delete_if_empty(self) -> None:
        """Delete a local folder that nothing is in; elsewhere folders are only names."""
        if self.is_local:
            with suppress(OSError):
                disk.remove_folder(self.path)


def _parsed(text: str) -> Place:
    """The place of a URI."""
    found = _URI.fullmatch(text)
    assert found is not None, "it begins with a scheme"
    scheme, authority, path, options, fragment = (part or "" for part in found.groups())
    scheme = scheme.lower()
    if scheme == "az":
        scheme, authority = "abfss", f"{authority}@{_azure_account(text)}{AZURE_DOMAIN}"
    if _CUT_OFF.fullmatch(authority):
        raise PlaceError(
            f"cannot tell the host in {scheme}://{authority.partition(':')[0]}:***",
            hint="in a password write %2F for /, %3F for ? and %23 for #",
        )
    place = Place(_SAME_SCHEME.get(scheme, scheme), authority, _names(path), options)
    try:
        names = _names(unquote(path, errors="strict"))
    except UnicodeDecodeError:
        raise PlaceError(
            f"cannot read {place}: its percent-encoded bytes are not UTF-8",
            hint="give the path without file://, or encode it as UTF-8",
        ) from None
    place = Place(place.scheme, authority, names, options)
    _check("/".join(names))
    if fragment:
        raise PlaceError(
            f"cannot tell what # means in {place}{fragment}", hint="in a URI write %23 for #"
        )
    if place.is_local and authority not in ("", "localhost"):
        raise PlaceError(
            f"cannot reach {place}: {authority} is no folder of this machine",
            hint="a file URI has three slashes: file:///folder/file",
        )
    return Place(LOCAL, "", names, options) if place.is_local else place


def _check_below(folder: Place, below: str) -> None:
    """Refuse a name that does not lead to a place below a folder."""
    if not _ELSEWHERE.isdisjoint(below.split("/")):
        raise PlaceError(f"{below!r} is not the name of a file below {folder}")


def _azure_account(text: str) -> str:
    """The account of an address that does not name it."""
    account = os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
    if not account:
        raise PlaceError(
            f"cannot tell whose {text.partition('?')[0]} is",
            hint="set AZURE_STORAGE_ACCOUNT_NAME, or write abfss://container@account"
            f"{AZURE_DOMAIN}/…",
        )
    return account


def _check(text: str) -> None:
    """Refuse characters that no name of a file has."""
    # What is before the path may be a password.
    shown = text[text.rfind("/") :] if _IS_URI.match(text) else text
    if "\0" in text:
        raise PlaceError(f"{shown!r} is no place for files: it has a NUL character", hint=_RENAME)
    try:
        text.encode()
    except UnicodeEncodeError:
        what = f"{shown!r} is no place for files: it is not UTF-8"
        raise PlaceError(what, hint=_RENAME) from None


_RENAME = "name a file or folder without it"


def _names(path: str) -> tuple[str, ...]:
    """The names of an absolute path, without `.`, `..` and empty ones."""
    return tuple(name for name in posixpath.normpath(f"/{path}").split("/") if name)


@lru_cache(maxsize=64)
def _opened(
    scheme: str, authority: str, options: str, told: tuple[tuple[str, str], ...]
) -> tuple[fs.FileSystem, str]:
    """A file system, and what it calls its root. One serves all places in it, for as long as the
    environment tells the same of it."""
    root = Place(scheme, authority, (), options)
    if root.is_local and not options:
        return fs.LocalFileSystem(), "/"
    if is_object_store(root):
        check_library()
    try:
        if scheme == "s3":
            access = S3Access.of(authority, options)
            return access.filesystem(), access.bucket
        if scheme in ("abfs", "abfss") and not options and ":" not in authority:
            return azure_filesystem(authority)
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(root.text)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).replace(root.text, str(root))
        raise PlaceError(
            f"cannot reach {root}: {reason}",
            hint="a place is a path, or a URI such as file:///folder, s3://bucket/folder "
            "or hdfs://host/folder",
        ) from None
    return found


def open_new(place: Place, compression: str | None = "detect") -> fs.NativeFile:
    """A new file to write to; its folder is made if need be. Its ending says how it is compressed,
    unless that is given."""
    filesystem, path = place.filesystem, place.path
    if place.is_local:
        try:
            return disk.create(path, compression)
        except FileNotFoundError:
            disk.make_folders(place.parent)
            return disk.create(path, compression)
    try:
        return filesystem.open_output_stream(path, compression=compression)
    except FileNotFoundError:
        filesystem.create_dir(place.parent.path, recursive=True)
        return filesystem.open_output_stream(path, compression=compression)
