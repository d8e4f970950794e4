"""The fence of a run: an epoch in its checkpoint, where no lock can be held.

Each run that takes a checkpoint over writes the next epoch, `epochs/NNN.json`, which only one can.
Who finds a later epoch than its own before it commits, or before it deletes what it has listed, has
been fenced off, and stops. Files have names that are used once, so that what a run deletes by a
list from before a later epoch is no file of a later run.
"""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import dataclass

from penstock.engine.places.creating import create
from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.errors import FencedError

_FOLDER = "epochs"
_ENDING = ".json"


@dataclass(frozen=True)
class Fence:
    """The epoch of a run on a checkpoint; it may travel to other processes of the run."""

    root: Place
    epoch: int

    @classmethod
    def raised(cls, root: Place) -> Fence:
        """A fence before all runs that there have been."""
        who = {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "at": time.time(),
            # So that no two are alike.
            "run": unique_name(),
        }
        epoch = max(_epochs(root), default=0)
        while True:
            epoch += 1
            try:
                create(_file(root, epoch), json.dumps(who).encode())
            except FileExistsError:
                continue
            break
        fence = cls(root, epoch)
        fence._forget_earlier()
        return fence

    def check(self) -> None:
        """Stop a run that another has taken the checkpoint from."""
        newest = max(_epochs(self.root), default=0)
        if newest > self.epoch:
            raise FencedError(
                f"checkpoint {self.root} was taken over by another run{_who(self.root, newest)}",
                hint="nothing is lost, and nothing is there twice: that run goes on from the last "
                "batch; two runs must not share a checkpoint",
            )

    def _forget_earlier(self) -> None:
        earlier = [each for each in _epochs(self.root) if each < self.epoch]
        (self.root / _FOLDER).delete([_name(each) for each in earlier])


def _name(epoch: int) -> str:
    return f"{epoch:012d}{_ENDING}"


def _file(root: Place, epoch: int) -> Place:
    return root / _FOLDER / _name(epoch)


def _epochs(root: Place) -> list[int]:
    names = [name.removesuffix(_ENDING) for name, _ in (root / _FOLDER).files()]
    return [int(name) for name in names if name.isdecimal()]


def _who(root: Place, epoch: int) -> str:
    """Which run has an epoch, as far as it can be read."""
    file = _file(root, epoch)
    try:
        with file.filesystem.open_input_stream(file.path) as stream:
            found = json.loads(stream.read())
        return f": process {int(found['process'])} on {found['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
