"""A headless Chromium under the test's control, through its debugging port."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
    "--window-size=1280,1600",
)
START_SECONDS = 60.0


def find() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


class Browser:
    """One page; collects every complaint of the console and every request."""

    def __init__(self, program: str, folder: Path) -> None:
        import websocket

        command = [program, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = self._port(folder / "DevToolsActivePort")
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self._socket = websocket.create_connection(address, timeout=600)
        self._numbers = itertools.count(1)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _port(self, file: Path) -> int:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if file.exists() and (lines := file.read_text().splitlines()):
                return int(lines[0])
            time.sleep(0.1)
        raise RuntimeError("Chromium did not open its debugging port")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._hear(message)

    def _hear(self, message: dict[str, Any]) -> None:
        what, said = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(said["exceptionDetails"]))
        elif what == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(said["entry"]["text"])
        elif what == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(said["args"]))
        elif what == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])

    def open(self, page: Path) -> None:
        self.call("Page.navigate", url=page.resolve().as_uri())
        deadline = time.monotonic() + START_SECONDS
        while self.value("document.readyState") != "complete" or self.value("location.protocol") != "file:":
            assert time.monotonic() < deadline, "the page did not load"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def close(self) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(timeout=600)
