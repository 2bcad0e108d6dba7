"""A text run by a Python of its own, as after a change of what Python reads when it starts."""

from __future__ import annotations

import os
import subprocess
import sys

from support.places import ROOT


def run_python(text: str, **environment: str) -> str:
    """What the text prints."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
