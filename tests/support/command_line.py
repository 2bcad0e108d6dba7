"""`warpsift` as a user types it, on a machine that may be slow: progress lines may appear, errors must not."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from typing import Any

WARPSIFT = [sys.executable, "-m", "warpsift"]
PATIENCE_SECONDS = 300
# `TITLE: what is being done, 12 s` after two seconds, and `warpsift: compiling ...` where no cache was found.
_PROGRESS = re.compile(r"^(warpsift: compiling .*|.+: .+, \d+ s(, .*)?)$")


def call(*words: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WARPSIFT, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def is_progress(line: str) -> bool:
    return _PROGRESS.match(line) is not None


def complaints(errors: str) -> list[str]:
    """The lines of standard error that are more than progress."""
    return [line for line in errors.splitlines() if not is_progress(line)]


def start(*words: Any) -> subprocess.Popen[str]:
    """The command in a session of its own, so that a signal can go to all its processes."""
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [*WARPSIFT, *map(str, words)], stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=environment
    )


def interrupt_at_work(process: subprocess.Popen[str]) -> tuple[str, list[str]]:
    """Send Ctrl-C once the command says what it is doing; gives its output and the lines of its errors.

    Its first progress line comes when everything is imported, however long that takes.
    """
    assert process.stderr is not None
    killer = threading.Timer(PATIENCE_SECONDS, process.kill)
    killer.start()
    lines = []
    for line in process.stderr:
        lines.append(line.rstrip("\n"))
        if is_progress(lines[-1]) and not lines[-1].startswith("warpsift: compiling"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    killer.cancel()
    return out, [*lines, *err.splitlines()]
