"""An ext4 file system in a file of its own: a power cut leaves of it what was flushed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MEGABYTES = 64
NEEDED = ("mkfs.ext4", "mount", "umount")


class LoopDisk:
    """An ext4 file system that is mounted in a folder."""

    def __init__(self, folder: Path):
        self.root = folder / "mounted"
        self._images = folder
        self._cuts = 0
        self.root.mkdir(parents=True)
        with self._image.open("wb") as image:
            image.truncate(_MEGABYTES << 20)
        _run("mkfs.ext4", "-q", "-F", str(self._image))
        self._mount()

    @property
    def _image(self) -> Path:
        return self._images / f"{self._cuts}.img"

    def _mount(self) -> None:
        _run("mount", "-o", "loop", str(self._image), str(self.root))

    def cut(self) -> None:
        """Lose all that the file system has not given to its disk by now."""
        old, self._cuts = self._image, self._cuts + 1
        shutil.copyfile(old, self._image)
        _run("umount", str(self.root))
        old.unlink()
        self._mount()

    def close(self) -> None:
        """Take it out."""
        with suppress(subprocess.CalledProcessError):
            _run("umount", str(self.root))


@contextmanager
def loop_disk(folder: Path) -> Iterator[LoopDisk | None]:
    """A disk for a while; None where nobody may have one."""
    if os.geteuid() != 0 or not all(map(shutil.which, NEEDED)):
        yield None
        return
    try:
        disk = LoopDisk(folder)
    except subprocess.CalledProcessError:
        yield None
        return
    try:
        yield disk
    finally:
        disk.close()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
