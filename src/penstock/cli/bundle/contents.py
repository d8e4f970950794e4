"""The contents of a bundle: a report log, a run and a manifest, without data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.cli.bundle.masking import Mask, masked_query, masked_words
from penstock.engine.reports.entries import Answer, Ended, Entry, entry_json
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead
from penstock.engine.state.manifest import Manifest

LEFT_OUT = "left out: it may quote data"
_COUNTED = """
batch seconds read late malformed results state_tuples total_results shed total_shed unreadable at
span cpu compiling phases busy delay backlog inputs modules prediction filling
"""
COUNTED = frozenset(_COUNTED.split())
"""Fields of a report that go in as they are: counts, seconds, and names of the query."""
TIMES = frozenset({"frontier", "newest"})
"""Event times: they are told as how far they are behind the newest one of the batch."""
MASKED = frozenset({"operators", "figures", "plan", "changes", "members"})
"""Fields of which the texts go in without literals."""
DROPPED = frozenset({"stats", "waiting"})
"""Fields that are told by others, or are sentences about single tuples."""


@dataclass(frozen=True)
class Scrubber:
    """Makes entries of a log fit to be seen by others."""

    mask: Mask

    @classmethod
    def of(cls, entries: Iterable[Entry], query: str) -> Scrubber:
        """The scrubber of a log."""
        reports = [each for entry in entries for each in _reports(entry)]
        conditions = {text for report in reports for text in _conditions(report)}
        return cls(Mask.of(conditions, query))

    def entry(self, entry: Entry) -> dict[str, Any]:
        """An entry as an object of JSON, with the fields of the log."""
        made = entry_json(entry)
        match entry:
            case Report():
                return self._batch(entry, made)
            case Answer(change=change):
                return made | {"change": self._change(change)}
            case Ended(error=str()):
                return made | {"error": LEFT_OUT}
        return {name: value for name, value in made.items() if name != "host"}

    def _batch(self, report: Report, made: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: made[name] for name in made if name in COUNTED or name in _HEAD}
        operators = [o | {"operator": masked_words(o["operator"])} for o in made["operators"]]
        last = _last(report)
        return kept | {
            "frontier": _after(last, report.frontier),
            "newest": {name: _after(last, time) for name, time in report.newest.items()},
            "operators": operators,
            "figures": [f | {"what": masked_words(f["what"])} for f in made["figures"]],
            "plan": self.mask.sentence(report.plan),
            "changes": [self._change(change) for change in report.changes],
            "members": {name: self.entry(each) for name, each in report.members.items()},
        }

    def _change(self, change: Change) -> dict[str, Any]:
        # What an order or another query says is a text of the user's.
        is_ours = change.kind not in ("order", "query")
        return {
            "kind": change.kind,
            "reason": self.mask.sentence(change.reason) if is_ours else LEFT_OUT,
            "plan": None if change.plan is None else self.mask.sentence(change.plan),
            "promise": change.promise,
            "outcome": change.outcome,
        }


_HEAD = frozenset({"version", "kind", "lag"})


def _reports(entry: Entry) -> list[Report]:
    """A report and those of its members."""
    if not isinstance(entry, Report):
        return []
    return [entry, *(each for member in entry.members.values() for each in _reports(member))]


def _last(report: Report) -> int:
    """The newest event time of a batch."""
    known = [time for time in (*report.newest.values(), report.frontier) if time is not None]
    return max(known, default=0)


def _after(last: int, time: int | None) -> int | None:
    return None if time is None else time - last


def _conditions(report: Report) -> set[str]:
    return {f.what for f in report.figures} | {o.operator for o in report.operators}


def run_facts(head: RunHead | None, is_running: bool, pinned: bool) -> dict[str, Any]:
    """The options of a run: nothing of where it runs, or where results go."""
    facts: dict[str, Any] = {"is_running": is_running, "is_pinned": pinned}
    if head is None:
        return facts
    names = ("engine", "trigger", "available_now", "drain", "partitions", "batch")
    times = ("started_at", "ended_at")
    facts |= {name: getattr(head, name) for name in (*names, *times)}
    return facts | {"sinks": _sinks(head.sink), "error": LEFT_OUT if head.error else None}


def _sinks(text: str) -> list[str]:
    """The kinds of sinks in a text as `jsonl:PATH` or `a=parquet:DIR, b=console`."""
    known = ("console", "jsonl", "parquet", "kafka", "noop")
    heads = (each.split("=")[-1].strip().split(":")[0] for each in text.split(", "))
    return [head if head in known else "other" for head in heads]


def query_text(head: RunHead | None) -> str:
    """The query without literals."""
    return "" if head is None else masked_query(head.query)


def shape(manifest: Manifest) -> dict[str, Any]:
    """How much state there is where: counts and bytes of chunks, and no word of what is in them."""
    return {
        "batch": manifest.batch,
        "results": manifest.results,
        "is_closed": manifest.is_closed,
        "is_recomputed": manifest.is_recomputed,
        "has_ends": manifest.has_ends,
        "streams": {name: _stream(state) for name, state in manifest.streams.items()},
        "modules": {
            str(module): {str(part): _chunks(chunks) for part, chunks in parts.items()}
            for module, parts in manifest.modules.items()
        },
        "inner": [str(module) for module in manifest.inner],
        "filling": [str(module) for module in manifest.gaps],
        "weighted": list(manifest.weighted),
        "sampled": list(manifest.sampled),
        "total_shed": dict(manifest.total_shed),
        "screened": {alias: list(counts) for alias, counts in manifest.screened.items()},
        "members": {name: shape(member) for name, member in manifest.members.items()},
    }


def _stream(state: Any) -> dict[str, int]:
    counts = {n: getattr(state, n) for n in ("rows", "late", "malformed", "unreadable")}
    return counts | {"partitions": len(state.parts)}


def _chunks(chunks: Iterable[Any]) -> dict[str, int]:
    held = list(chunks)
    rows, size = sum(each.rows for each in held), sum(each.size for each in held)
    return {"chunks": len(held), "rows": rows, "bytes": size}
