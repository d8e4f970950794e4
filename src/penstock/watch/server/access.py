"""Who may see a dashboard: those who know its token, from pages of its own."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ["127.0.0.1", "localhost"]
"""Names by which it may be asked: a page of another site cannot make its own name mean this one."""

_OPEN = "/page/"
"""Where scripts and styles are, which anybody may see: there is no data in them."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(18)


class TokenRequired:
    """Refuses requests without the token, in the URL or as `Authorization: Bearer`; what is
    answered may load nothing from elsewhere."""

    def __init__(self, app: ASGIApp, token: str):
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if self._is_allowed(scope):
            await self._app(scope, receive, guarded)
        else:
            refused = {"error": "the token is missing or wrong", "hint": _HINT}
            await JSONResponse(refused, 403)(scope, receive, guarded)

    def _is_allowed(self, scope: Scope) -> bool:
        if scope["path"].startswith(_OPEN):
            return True
        bearer = Headers(scope=scope).get("authorization", "").removeprefix("Bearer ")
        given = Request(scope).query_params.get("token", bearer)
        return secrets.compare_digest(given.encode(), self._token.encode())


_HINT = "open the address that penstock dashboard has printed"
