"""Server-sent events: a page hears that a log has something new, and asks for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.concurrency import run_in_threadpool

from penstock.watch.log_view import LogView
from penstock.watch.server.runs import Watched

PACE = 0.5
"""Seconds between two looks."""
_ALIVE = 30
"""Looks after which something is sent even if nothing is new: who has gone is noticed by it."""


async def news(
    watched: Watched, is_gone: Callable[[], Awaitable[bool]], pace: float = PACE
) -> AsyncIterator[str]:
    """An event now, and another whenever a batch, a decision or an end is new in a log."""
    before, looks = "", 0
    while not await is_gone():
        mark = json.dumps(_mark(await run_in_threadpool(watched.log)))
        if mark != before:
            yield f"data: {mark}\n\n"
        elif looks % _ALIVE == 0:
            yield ": nothing new\n\n"
        before, looks = mark, looks + 1
        await asyncio.sleep(pace)


def _mark(log: LogView) -> dict[str, object]:
    last = log.last
    return {
        "batch": None if last is None else last.batch,
        "at": None if last is None else last.at,
        "is_running": log.is_running,
        "decisions": len(log.decisions),
    }
