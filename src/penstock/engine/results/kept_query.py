"""A query as a checkpoint keeps it: its own files, and its part of the manifests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.engine.reports.reading import read_reports
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import read_head
from penstock.engine.reports.standing import store_of
from penstock.engine.state.checkpoint import member_names
from penstock.engine.state.hold import SCRIPT
from penstock.engine.state.manifest import Manifest, newest
from penstock.engine.state.store import Store, member_store
from penstock.errors import CheckpointError, UsageError


@dataclass(frozen=True)
class KeptQuery:
    """The query of a checkpoint, or that of a `name` among those of a script.

    `store` has the files of the query, and `root` those that a script's queries have together.
    """

    store: Store
    root: Store
    name: str | None = None

    def newest(self, count: int) -> list[Manifest]:
        """What the newest manifests say of the query, the very newest first."""
        made = newest(self.root, count)
        if self.name is None:
            return made
        return [each.members[self.name] for each in made if self.name in each.members]

    def reports(self, count: int | None = None) -> Iterator[Report]:
        """The reports of its batches, the last of them if there are to be so many only."""
        for report in read_reports(self.root.root, count):
            if self.name is None:
                yield report
            elif self.name in report.members:
                yield report.members[self.name]

    @property
    def first_sink(self) -> str:
        """Where results go before there are any, as far as that is told."""
        head = read_head(self.root)
        return head.sink if head is not None and self.name is None else ""


def kept_query(checkpoint: str, name: str | None = None) -> KeptQuery:
    """The query that is meant; an error that names those which there are if none is."""
    root = store_of(checkpoint)
    if not root.exists(SCRIPT):
        if name is not None:
            raise UsageError(
                f"checkpoint {root.root} is of one query, and none is named {name}",
                hint="leave the option query out",
            )
        return KeptQuery(root, root)
    names = member_names(root)
    if not names:
        raise CheckpointError(
            f"no batch of the script of checkpoint {root.root} is final yet",
            hint="read it once there are results",
        )
    found = [each for each in names if name is not None and each.lower() == name.lower()]
    if not found:
        message = (
            f"checkpoint {root.root} is of a script of several queries"
            if name is None
            else f"the script of checkpoint {root.root} has no query {name}"
        )
        raise UsageError(message, hint=f"name one of them by the option query: {', '.join(names)}")
    return KeptQuery(member_store(root, found[0]), root, found[0])
