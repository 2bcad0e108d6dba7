"""The last net: whatever a command does, it ends with an exit code and at most one line of error.

Exit codes: 0 fine, 1 the answer failed its check, 2 the request was wrong, 70 a bug of ours (EX_SOFTWARE of BSD's
sysexits.h), 130 interrupted. The traceback of a bug goes to a file of its own, whose name is told.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable

from warpsift.errors import WarpsiftError
from warpsift.printable import one_line

WRONG_REQUEST, BUG, INTERRUPTED = 2, 70, 130

_interrupted = False


class Interrupted(Exception):
    """Ctrl-C in a command that keeps what it has finished; the text says where."""


def guarded(command: Callable[[], object]) -> None:
    """Run a command and end the process."""
    code: str | int | None = 0
    with contextlib.suppress(ValueError):  # not in the main thread
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _note_interrupt)
    try:
        from warpsift.private_folder import guard_numba

        guard_numba(os.environ)
        command()
    except SystemExit as done:  # how Typer ends, after an interruption too
        code = done.code
    except BrokenPipeError:  # the reader of our output has gone: | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain when it closes the pipe
    except BaseException as error:
        code = report(error)
    if code == INTERRUPTED:
        _tell("interrupted; nothing was written" if not _kept else f"interrupted; {_kept[-1]}")
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would only show where Python was closing down
    sys.exit(code)


_kept: list[str] = []  # what an interrupted command says is kept


def _note_interrupt(*_: object) -> None:
    """Libraries turn an interrupt of their imports into other errors, so it is remembered."""
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def report(error: BaseException) -> int:
    """Tell what went wrong; gives the exit code."""
    if isinstance(error, Interrupted):
        _kept.append(str(error))
        return INTERRUPTED
    if isinstance(error, WarpsiftError):
        _tell(f"error: {error}")
        return WRONG_REQUEST
    if isinstance(error, KeyboardInterrupt) or _interrupted:
        return INTERRUPTED
    if isinstance(error, MemoryError):
        what = "this machine's memory is not enough"
    else:
        what = f"a bug of warpsift ({type(error).__name__}: {one_line(str(error), 200)})"
    _tell(f"error: {what}; {_write_report(error)}")
    return BUG


def _write_report(error: BaseException) -> str:
    """The traceback to a new file; where it is."""
    import traceback

    from warpsift.version import __version__

    lines = [f"warpsift {__version__}, Python {sys.version}", f"arguments: {sys.argv[1:]!r}", ""]
    lines += traceback.format_exception(error)
    try:
        handle, path = tempfile.mkstemp(prefix="warpsift-report-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n".join(lines))
    except OSError:
        return "no report of it could be written"
    return f"please send us the report {path}"


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(one_line(line) + "\n")
