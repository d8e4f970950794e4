"""`penstock dashboard`: a page of running, stopped and remote queries, by their checkpoints."""

from __future__ import annotations

import socket
import sys
import webbrowser
from contextlib import suppress
from typing import Annotated

import typer

from penstock.errors import SetupError

_HOST = "127.0.0.1"
_LAST = 65_535


def dashboard(
    checkpoints: Annotated[
        list[str],
        typer.Argument(help="Folders or URIs of the states of runs.", metavar="CHECKPOINT"),
    ],
    port: Annotated[
        int, typer.Option(min=0, max=_LAST, help="Port on 127.0.0.1; 0 takes any that is free.")
    ] = 8321,
    control: Annotated[
        bool, typer.Option("--control", help="Let the page stop, plan again and shed.")
    ] = False,
    functions: Annotated[
        str | None, typer.Option(help="Python file of the queries' functions, to plan them.")
    ] = None,
    open: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Show queries on a page: rates, plans, batches and decisions, measured beside expected.

    It reads report logs, so it works for queries that run, have ended, or run elsewhere. The
    address has a token in it, and answers on this machine only. Ctrl-C ends it.

    Example: penstock dashboard out/checkpoint --open
    """
    try:
        import uvicorn

        from penstock.watch.server.access import new_token
        from penstock.watch.server.app import dashboard_app
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    token = new_token()
    app = dashboard_app(checkpoints, token, control=control, functions=functions)
    with _listening(port) as listener:
        address = f"http://{_HOST}:{listener.getsockname()[1]}/?token={token}"
        print(address, flush=True)
        print("Ctrl-C ends it", file=sys.stderr)
        if open:
            webbrowser.open(address)
        # Addresses have the token in them, so that none is logged. Pages that still listen for
        # news are not waited for.
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=1
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
        listener.listen()  # Who opens the address at once waits for an answer.
    except OSError as error:
        listener.close()
        raise SetupError(
            f"port {port} cannot be used: {error.strerror}", hint="give another one with --port"
        ) from None
    return listener


def _missing(error: ModuleNotFoundError) -> SetupError:
    library = (error.name or "").partition(".")[0]
    return SetupError(
        f"the dashboard needs {library}, which is not installed",
        hint="python -m pip install 'penstock[dashboard]'",
    )
