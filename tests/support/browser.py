"""Headless Chromium, driven over its debugging pipe: pages as a person sees them.

The protocol is JSON, each message ended by a zero byte; Chromium reads from file descriptor 3 and
writes to 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from composer.setup.tools import CHROMIUMS

PATIENCE = 120.0
SWITCHES = (
    "--headless",
    "--no-sandbox",  # tests may run as root, and the page is our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # nothing leaves this machine
    "--remote-debugging-pipe",
)


def find_chromium() -> str | None:
    """The first Chromium on the path."""
    return next((path for name in CHROMIUMS if (path := shutil.which(name))), None)


@dataclass
class Seen:
    """What happened while a page was shown."""

    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)


class Browser:
    """One page in one process; use as a context manager."""

    def __init__(self, program: str, *, width: int = 1280, height: int = 900) -> None:
        self._profile = tempfile.mkdtemp(prefix="fvm-chromium-")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        switches = [*SWITCHES, f"--user-data-dir={self._profile}"]

        def place_pipes() -> None:
            # Copies above 4 first: one of the four may itself be 3 or 4.
            reading, writing = os.dup2(to_browser, 103), os.dup2(from_browser, 104)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self._process = subprocess.Popen(
            [program, *switches, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place_pipes,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.seen = Seen()
        self._size = (width, height)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Network", "Runtime", "Log"):
                self.call(f"{domain}.enable")
            self.resize(width)
        except BaseException:
            self.close()
            raise

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """One command of the protocol and its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, file: Path, *, dark: bool = False, scripts: bool = True) -> None:
        """Show a file and wait until it is loaded."""
        scheme = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.seen = Seen()
        self._loaded = False
        self.call("Page.navigate", url=file.resolve().as_uri())
        while not self._loaded:
            self._receive()

    def resize(self, width: int) -> None:
        """A window of this width, in CSS pixels."""
        self._size = (width, self._size[1])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=self._size[1], deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def screenshot(self, selector: str | None = None) -> bytes:
        """PNG of the window, or of all that an element covers."""
        clip: dict[str, Any] = {}
        if selector is not None:
            box = self.ask(
                f"(()=>{{const b=document.querySelector({selector!r}).getBoundingClientRect();"
                "return [b.x+scrollX,b.y+scrollY,b.width,b.height]})()"
            )
            x, y, width, height = box
            clip = {
                "clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1},
                "captureBeyondViewport": True,
            }
        shot = self.call("Page.captureScreenshot", format="png", **clip)
        return base64.b64decode(shot["data"])

    def printed(self) -> bytes:
        """The page as PDF."""
        pdf = self.call("Page.printToPDF", printBackground=True)
        return base64.b64decode(pdf["data"])

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _receive(self) -> dict[str, Any]:
        """The next message; events are noted on the way."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._in, 1 << 16) if ready else b""
            if not data:
                raise TimeoutError(f"Chromium says nothing; exit status {self._process.poll()}")
            self._rest += data
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            url: str = parameters["request"]["url"]
            if not url.startswith("data:"):  # part of the page, nothing is asked for
                self.seen.requests.append(url)
        elif method == "Runtime.consoleAPICalled":
            self.seen.console.append(str(parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.seen.console.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.seen.console.append(parameters["entry"]["text"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
