"""Creating: write a file whole, where none of that name may be; of several writers one succeeds.

On local disks that is a hard link, on object stores a conditional request. HDFS renames only to
what is not there. Elsewhere nothing sees to it, and a look before is all.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from pyarrow import fs

from penstock.engine.places import disk
from penstock.engine.places.file_names import unique_name
from penstock.engine.places.objects import create_object, is_object_store
from penstock.engine.places.place import Place, open_new

# File systems without hard links (some network mounts) answer with one of these.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
_RENAMING = ("hdfs", "viewfs")


def create(place: Place, data: bytes) -> None:
    """Write a file that is seen whole or not at all; FileExistsError if there is one."""
    if place.is_local:
        _create_locally(place, data)
    elif is_object_store(place):
        create_object(place, data)
    elif place.scheme in _RENAMING:
        _create_by_renaming(place, data)
    else:
        if place.exists:
            raise FileExistsError(place.path)
        with open_new(place) as stream:
            stream.write(data)


def _create_locally(final: Place, data: bytes) -> None:
    draft = final.parent / f".{final.name}.{unique_name()}"
    disk.make_folders(final.parent)
    disk.write_flushed(draft, data)
    try:
        disk.link(draft.path, final.path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.exists(final):
            raise FileExistsError(final) from None
        disk.replace(draft.path, final.path)
    finally:
        with suppress(FileNotFoundError):
            disk.unlink(draft.path)


def _create_by_renaming(final: Place, data: bytes) -> None:
    """Rename a draft: the name node does so at once, and refuses a name that is taken."""
    draft = final.parent / f".{final.name}.{unique_name()}"
    with open_new(draft) as stream:
        stream.write(data)
    try:
        final.filesystem.move(draft.path, final.path)
    except OSError:
        if final.info().type == fs.FileType.NotFound:
            raise
        raise FileExistsError(final.path) from None
    finally:
        final.parent.delete([draft.name])
