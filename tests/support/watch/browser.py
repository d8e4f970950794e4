"""A browser without a screen, led over a pipe: pages, what they show, say and ask for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
_END = b"\0"
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)


class Browser:
    """One page of it. `said` are errors and other messages of scripts, `asked` all addresses."""

    def __init__(self, into: int, out: int):
        self._into, self._out = into, out
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.said: list[str] = []
        self.asked: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def open(self, address: str) -> None:
        """Go to a page."""
        self.call("Page.navigate", url=address)

    def value(self, script: str) -> Any:
        """What a script gives on the page, also if that takes it a while."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def look(self, width: int, scheme: str) -> None:
        """Show pages as on a screen so wide, `light` or `dark`."""
        screen = {"width": width, "height": 844, "deviceScaleFactor": 2, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def call(self, method: str, **given: Any) -> Any:
        """The answer of the browser; what it tells meanwhile is kept."""
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._into, json.dumps(asked).encode() + _END)
        while True:
            told = self._read()
            if told.get("id") == self._number:
                assert "error" not in told, told
                return told["result"]
            self._hear(told)

    def _read(self) -> dict[str, Any]:
        while _END not in self._rest:
            found = os.read(self._out, 1 << 16)
            assert found, "the browser has ended"
            self._rest += found
        line, _, self._rest = self._rest.partition(_END)
        read: dict[str, Any] = json.loads(line)
        return read

    def _hear(self, told: dict[str, Any]) -> None:
        match told.get("method"):
            case "Network.requestWillBeSent":
                self.asked.append(told["params"]["request"]["url"])
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.said.append(json.dumps(told["params"]))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser for the length of a `with` block."""
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()

    def at_three_and_four() -> None:
        in_copy, out_copy = os.dup(theirs_in), os.dup(theirs_out)
        os.dup2(in_copy, 3)
        os.dup2(out_copy, 4)

    words = [str(BROWSER), *_OPTIONS, f"--user-data-dir={profile}"]
    run = subprocess.Popen(
        words,
        preexec_fn=at_three_and_four,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_in, ours_out)
    finally:
        run.kill()
        run.wait()
        os.close(ours_in)
        os.close(ours_out)
