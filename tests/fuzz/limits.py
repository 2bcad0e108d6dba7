"""What one input may take: 2 s on the processor and 500 MB, and a watchdog for compiled code that never comes back."""

from __future__ import annotations

import contextlib
import faulthandler
import resource
import signal
from collections.abc import Iterator

SECONDS = 2.0
BYTES = 500 << 20
WATCHDOG_SECONDS = 120


class TooSlow(BaseException):
    """Not an Exception, so that nobody takes it for damage in a file."""


def _too_slow(*_: object) -> None:
    raise TooSlow(f"more than {SECONDS:g} s")


def address_space_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def allow_memory() -> None:
    """From here on the process may grow by BYTES."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (address_space_bytes() + BYTES, hard))
    faulthandler.dump_traceback_later(WATCHDOG_SECONDS, exit=True)


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise TooSlow in what takes too long."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
