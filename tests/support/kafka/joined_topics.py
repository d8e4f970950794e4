"""Two topics, and the join of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

from support.kafka.cluster import Cluster


def script(cluster: Cluster) -> str:
    """A join of two topics, of which a batch takes some records."""
    streams = "".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, x BIGINT) WITH (format = 'kafka', "
        f"servers = '{cluster.servers}', topic = '{name}', timestamp = 'ts', max_rows = 40);\n"
        for name in "ab"
    )
    windows = "a [RANGE 20 SECONDS], b [RANGE 20 SECONDS]"
    return f"{streams}SELECT a.x AS ax, b.x AS bx FROM {windows} WHERE a.k = b.k;"


def fill(cluster: Cluster) -> Counter[tuple[int, int]]:
    """Write both topics, partitions in their own order of event time; what the join makes."""
    random, found = Random(4), Counter[tuple[int, int]]()
    sent: dict[str, list[tuple[int, int, int]]] = {"a": [], "b": []}
    values: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for number in range(300):
        name, second, k = "ab"[number % 2], number // 6, random.randrange(12)
        value = {"ts": f"2026-01-01 00:00:{second:02d}", "k": k, "x": number}
        values.setdefault((name, random.randrange(3)), []).append(value)
        sent[name].append((second, k, number))
    for (name, part), records in values.items():
        cluster.send(name, part, *records)
    for a_second, a_key, a in sent["a"]:
        for b_second, b_key, b in sent["b"]:
            if a_key == b_key and abs(a_second - b_second) <= 20:
                found[a, b] += 1
    return found
