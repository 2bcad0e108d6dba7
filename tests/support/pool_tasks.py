"""Tasks that worker processes of the tests run."""

from __future__ import annotations

import os
import signal
import time


def square(number: int) -> int:
    return number * number


def slow_pid(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def chatter(text: str) -> str:
    print(text)  # must not come between answers
    os.write(1, text.encode())
    return text


def die(_: object = None) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave(code: int) -> None:
    os._exit(code)


def refuse(text: str) -> None:
    raise ValueError(text)
