"""The application: one page, its scripts, and everything on it as JSON under `/api`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from penstock.engine.reports.json_fields import as_json
from penstock.errors import PenstockError, UsageError
from penstock.watch.server.access import HOSTS, TokenRequired
from penstock.watch.server.events import news
from penstock.watch.server.orders import give_order
from penstock.watch.server.runs import Runs
from penstock.watch.views import PARTS, VIEWS, Asking, View

VERSION = 1
PAGE = Path(__file__).parent.parent / "page"


def dashboard_app(
    checkpoints: Sequence[str],
    token: str,
    *,
    control: bool = False,
    functions: str | None = None,
) -> Starlette:
    """The dashboard of some checkpoints, for who has the token; with `control` it gives orders.

    `functions` is the Python file of those that the queries call: to plan them they are needed.
    """
    runs = Runs(checkpoints)

    def listed(request: Request) -> Response:
        found = {"runs": runs.listed(), "views": list(VIEWS), "control": control}
        return answer(found)

    def shown(view: View) -> Callable[[Request], Response]:
        def endpoint(request: Request) -> Response:
            given = request.query_params
            log = runs.run(given.get("run", "0")).of_query(given.get("query") or None)
            return answer(as_json(view(Asking(log, given, functions))))

        return endpoint

    async def events(request: Request) -> Response:
        watched = runs.run(request.query_params.get("run", "0"))
        told = news(watched, request.is_disconnected)
        return StreamingResponse(told, media_type="text/event-stream")

    async def order(request: Request) -> Response:
        if not control:
            return _told(
                UsageError("this dashboard only shows", hint="start it with --control"), 403
            )
        watched = runs.run(request.query_params.get("run", "0"))
        given = await run_in_threadpool(give_order, watched.store, await _body(request))
        return answer({"given": given})

    routes = [
        Route("/", _page),
        Mount("/page", StaticFiles(directory=PAGE)),
        Route("/api/runs", listed),
        Route("/api/events", events),
        Route("/api/orders", order, methods=["POST"]),
        *(Route(f"/api/{name}", shown(view)) for name, view in {**VIEWS, **PARTS}.items()),
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS),
        Middleware(TokenRequired, token=token),
    ]
    handlers: dict[Any, Any] = {PenstockError: _refused, OSError: _unreadable}
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)


def _page(request: Request) -> Response:
    return FileResponse(PAGE / "index.html", media_type="text/html")


async def _body(request: Request) -> object:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise UsageError("this is no JSON", hint='{"kind": "stop"}') from None


def answer(found: dict[str, Any]) -> Response:
    """An object as JSON, with its version."""
    text = json.dumps({"version": VERSION, **found}, ensure_ascii=False, allow_nan=False)
    return Response(text, media_type="application/json")


def _refused(request: Request, error: PenstockError) -> Response:
    return _told(error, 400)


def _told(error: PenstockError, status: int) -> Response:
    return JSONResponse({"error": error.message, "hint": error.hint}, status)


def _unreadable(request: Request, error: OSError) -> Response:
    return JSONResponse({"error": f"the checkpoint cannot be read: {error}", "hint": None}, 503)
