"""Yosys (`pyosys`, from PyPI), or a clear word that it is missing.

Yosys ends its process when a command fails, so it runs in one of its own, which imports nothing from the working
directory.
"""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from warpsift.errors import WarpsiftError

_RUNNER = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.stdin.read().splitlines():
    print(command.split()[0], file=sys.stderr, flush=True)
    libyosys.run_pass(command, design)
"""


class HdlToolError(WarpsiftError):
    """A tool of the optional extra is missing, or refused its input."""


def amaranth() -> None:
    """Raise if Amaranth is not installed."""
    if importlib.util.find_spec("amaranth") is None:
        raise HdlToolError("the hardware description needs Amaranth; install it with: pip install 'warpsift[hdl]'")


def pyosys() -> None:
    """Raise if Yosys is not installed."""
    if importlib.util.find_spec("pyosys") is None:
        raise HdlToolError("Verilog and synthesis need Yosys; install it with: pip install 'warpsift[hdl]'")


@contextlib.contextmanager
def telling(what: str) -> Iterator[None]:
    """A progress line on stderr: what is being done, whatever is written meanwhile, and how long it took."""
    started = time.perf_counter()
    print(f"warpsift: {what}", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(f", {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)


def run(*commands: str, what: str) -> None:
    """Run Yosys commands on a new design; their names are told as they begin."""
    pyosys()
    with telling(f"{what}:"), tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _RUNNER], stdin=subprocess.PIPE, stdout=log, stderr=subprocess.PIPE, text=True
        )
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write("\n".join(commands))
        process.stdin.close()
        said = []
        names = {command.split()[0] for command in commands}
        for line in process.stderr:
            said.append(line)
            if line.strip() in names:
                print(f" {line.strip()}", end="", file=sys.stderr, flush=True)
        code = process.wait()
        log.seek(0)
        errors = [line.strip() for line in [*log, *said] if "ERROR" in line]
    if code:
        raise HdlToolError(f"Yosys failed: {errors[-1] if errors else f'exit code {code}'}")
