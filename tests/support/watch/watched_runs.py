"""Small runs in this process whose logs are looked at, the same every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import penstock as ps
from penstock.adapt.replanner import Mode
from support.engines.reported import script
from support.engines.supervised import follow
from support.streams.drifting import Drifting, steady, step

_KEYS = {"a": 30, "b": 30, "c": 30}


def chained(batches: int = 16) -> Drifting:
    """A chain of three streams, of which another brings the most from the middle on."""
    early, late = {"a": 2000, "b": 20, "c": 10}, {"a": 10, "b": 20, "c": 6000}
    return Drifting("abc", step(batches // 2, early, late), steady(_KEYS), batches, is_chain=True)


def run_of(streams: Drifting, folder: Path, **options: Any) -> Path:
    """The checkpoint of a run over all there is; its results are in the folder `out`."""
    streams.write(folder)
    query = ps.sql(streams.script(folder), engine="local", **options)
    # A plan that is forced stays.
    mode: Mode = "off" if "plan" in options else "on"
    follow(query, folder, mode, available_now=True)
    return folder / "checkpoint"


HOSTILE = (
    "</td><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)
"""A text that would do something if it became markup."""

_STREAM = """
CREATE STREAM "{name}" (ts BIGINT, k INT, t STRING)
  WITH (format='csv', path='{folder}/{file}', timestamp='ts', unit='s', max_files=1);
"""


_COUNTS = """SELECT a.k AS k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
WHERE a.k = b.k GROUP BY a.k"""


def hostile(folder: Path) -> Path:
    """The checkpoint of a run whose streams and results have names and texts made to harm."""
    names = {"a": "<img src=x onerror=alert(1)>", "b": "b</script>'`"}
    streams = ""
    for file, name in names.items():
        (folder / file).mkdir(parents=True)
        for number in range(1, 4):
            text = HOSTILE.replace('"', '""')
            (folder / file / f"{number}.csv").write_text(f'ts,k,t\n{number},1,"{text}"\n')
        streams += _STREAM.format(name=name, folder=folder, file=file)
    one, other = (f'"{name}"' for name in names.values())
    query = f"""{streams}
SELECT {one}.t AS "<b>t</b>", {other}.ts AS ts
FROM {one} [RANGE 10 SECONDS], {other} [RANGE 10 SECONDS] WHERE {one}.k = {other}.k
"""
    return _run(query, folder, f"jsonl:{folder}/out.jsonl")


def counted(folder: Path, *, view: bool = True) -> Path:
    """The checkpoint of a view that counts pairs, or of the pairs, which are not kept."""
    text = script(folder)
    if not view:
        return _run(text, folder, "noop")
    return _run(text.split("SELECT")[0] + _COUNTS, folder, f"jsonl:{folder}/out.jsonl")


def scripted(folder: Path) -> Path:
    """The checkpoint of a script that asks two queries, `pairs` and `counts`."""
    text = f"{script(folder).rstrip()} INTO pairs;\n{_COUNTS} INTO counts;"
    return _run(
        text, folder, {name: f"parquet:{folder}/{name}-out" for name in ("pairs", "counts")}
    )


def _run(text: str, folder: Path, sink: Any) -> Path:
    checkpoint = folder / "checkpoint"
    query = ps.sql(text, engine="local")
    with query.local(sink=sink, checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    return checkpoint
