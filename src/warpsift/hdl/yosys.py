"""Yosys (`pyosys`, from PyPI), or a clear word that it is missing.

Yosys ends its process when a command fails, so it runs in one of its own.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys

from warpsift.errors import WarpsiftError

_RUNNER = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.stdin.read().splitlines():
    libyosys.run_pass(command, design)
"""


class HdlToolError(WarpsiftError):
    """A tool of the optional extra is missing, or refused its input."""


def amaranth() -> None:
    """Raise if Amaranth is not installed."""
    if importlib.util.find_spec("amaranth") is None:
        raise HdlToolError("the hardware description needs Amaranth; install it with: pip install 'warpsift[hdl]'")


def run(*commands: str) -> None:
    """Run Yosys commands on a new design."""
    if importlib.util.find_spec("pyosys") is None:
        raise HdlToolError("Verilog and synthesis need Yosys; install it with: pip install 'warpsift[hdl]'")
    text = "\n".join(commands)
    done = subprocess.run([sys.executable, "-c", _RUNNER], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise HdlToolError(f"Yosys failed: {errors[-1] if errors else f'exit code {done.returncode}'}")
