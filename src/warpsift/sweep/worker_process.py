"""A local worker process: reads (function, arguments) from standard input, writes (True, value) or (False, error)."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from typing import IO, Any

from warpsift.sweep.workers import receive, send


def _read(pipe: IO[bytes], tasks: queue.SimpleQueue[Any]) -> None:
    """Tasks as they come; when the other side is gone, nobody wants what is being computed."""
    while True:
        try:
            tasks.put(receive(pipe))
        except EOFError:
            os._exit(0)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the sweep decides for us
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between answers
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True).start()
    while True:
        function, arguments = tasks.get()
        try:
            answer = (True, function(*arguments))
        except Exception as error:
            answer = (False, error)
        send(answers, answer)


if __name__ == "__main__":
    main()
