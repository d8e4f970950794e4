"""The files of a bundle, and the zip that they are in."""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from penstock.cli.bundle.contents import Scrubber, query_text, run_facts, shape
from penstock.engine.reports.entries import Entry
from penstock.engine.reports.reading import latest_reports
from penstock.engine.reports.run_head import is_running, read_head
from penstock.engine.reports.segments import latest_entries
from penstock.engine.state.manifest import newest
from penstock.engine.state.pin import read_pin
from penstock.engine.state.store import Store
from penstock.errors import PenstockError, SinkError

_PACKAGES = ("penstock", "pyspark", "pyarrow", "numpy", "numba", "pandas", "scipy", "sqlglot")
_README = """What Penstock knows of a query that ran, for a bug report; no data is in it.

{files}

Left out: every tuple, key and result; comments and literals of the query (windows and how
sources are read stay); paths, hosts, addresses and passwords; texts of errors and of orders, which
may quote data: paste what may be seen. Event times are told as how far they are behind the newest
one of their batch.
Names of streams, columns and queries are in it.
"""


@dataclass(frozen=True)
class Part:
    """A file of a bundle, and what it is in a line."""

    name: str
    what: str
    text: str


def parts_of(store: Store, now: float) -> list[Part]:
    """The files of a checkpoint's bundle, the one that says what the others are first."""
    head = read_head(store)
    entries = [*latest_entries(store)][::-1]
    scrubber = Scrubber.of(entries, "" if head is None else head.query)
    run = run_facts(head, is_running(store, head, now), read_pin(store) is not None)
    found = [
        Part("query.cql", "the query, without literals", query_text(head)),
        Part("plan.txt", "the plan of the last batch", _plan(entries, scrubber)),
        Part("run.json", "how the last run was started, and how it ended", _json(run)),
        Part("reports.jsonl", "the report log, a line a batch", _lines(entries, scrubber)),
        Part("state.json", "how many chunks, rows and bytes of state there are", _state(store)),
        Part("versions.json", "versions, system and cores", _json(versions())),
    ]
    width = max(len(part.name) for part in found)
    listed = "\n".join(f"{part.name:<{width}}  {part.what}" for part in found)
    readme = _README.format(files=listed)
    return [Part("README.txt", "this list, and what was left out", readme), *found]


def write_zip(parts: list[Part], output: Path) -> None:
    """Write a bundle that is not there yet; a SinkError if that cannot be."""
    try:
        with zipfile.ZipFile(output, "x", zipfile.ZIP_DEFLATED) as archive:
            for part in parts:
                archive.writestr(part.name, part.text)
    except FileExistsError:
        raise SinkError(f"{output} is there already", hint="name another: --output FILE") from None
    except OSError as error:
        raise SinkError(f"cannot write {output}: {error.strerror}") from None


def versions() -> dict[str, object]:
    """What a bug may depend on, and no name or path of the machine."""
    found: dict[str, object] = {name: _version(name) for name in _PACKAGES}
    return {
        **found,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _plan(entries: list[Entry], scrubber: Scrubber) -> str:
    last = next(latest_reports(reversed(entries)), None)
    if last is None:
        return ""
    plans = {f"{n}: ": member.plan for n, member in last.members.items()} or {"": last.plan}
    return "".join(f"{n}{scrubber.mask.sentence(plan)}\n" for n, plan in plans.items() if plan)


def _lines(entries: list[Entry], scrubber: Scrubber) -> str:
    made = (json.dumps(scrubber.entry(each), ensure_ascii=False) for each in entries)
    return "".join(f"{line}\n" for line in made)


def _state(store: Store) -> str:
    """The shape of the state; where it cannot be read, that it cannot: that may be the bug."""
    try:
        found = newest(store, 1)
    except PenstockError as error:
        return _json({"error": type(error).__name__})
    return _json(shape(found[0]) if found else {})


def _json(data: Mapping[str, object]) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
