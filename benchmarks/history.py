"""What the benchmarks measured before, so that a regression is seen.

`history.csv` keeps medians: when, at which commit, on which processor, what, how much, and beside it the yardstick:
processor seconds that ten million additions took then. Other work on a processor slows both. A benchmark hands each of
its numbers to `note`, which says how it stands to the last one kept of the same processor, both measured by their
yardstick; `python -m benchmarks --keep` adds this run's numbers to the file.
"""

from __future__ import annotations

import csv
import datetime
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).parent / "history.csv"
COLUMNS = ("day", "commit", "processor", "what", "unit", "value", "yardstick_s")
ADDITIONS = 10_000_000
TELLING = 0.10  # two runs on one idle processor differ by a few per cent; on a shared one by 10
LESS_IS_BETTER = ("s", "us", "MB", "of 1")
TIMES, RATES = ("s", "us"), ("M inst/s",)  # units that the yardstick measures; sizes and ratios stand for themselves


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def commit() -> str:
    """The short name of the commit, with a + where files have changed since; empty outside of a clone."""
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=FILE.parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return told.stdout.strip()


def yardstick() -> float:
    """Processor seconds of ten million additions in plain Python, the least of three: what the host gives just now."""
    best = float("inf")
    for _ in range(3):
        begun, total = time.process_time(), 0
        for number in range(ADDITIONS):
            total += number
        best = min(best, time.process_time() - begun)
    return best


@dataclass
class History:
    """The kept numbers of one processor, and those of this run."""

    path: Path = FILE
    where: str = field(default_factory=processor)
    yard: float | None = None  # measured at the first note, if not given
    new: dict[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.last: dict[tuple[str, str], Mapping[str, str]] = {}
        if self.path.exists():
            with self.path.open(newline="") as file:
                rows = [row for row in csv.DictReader(file) if row["processor"] == self.where]
            self.last = {(row["what"], row["unit"]): row for row in rows}

    def note(self, what: str, value: float, unit: str) -> str:
        """Take a median; gives how it stands to the last one kept, in a few words, or nothing."""
        self.new[what, unit] = value
        self.yard = self.yard or yardstick()
        before = self.last.get((what, unit))
        if before is None or not float(before["value"]):
            return ""
        slower_host = self.yard / float(before["yardstick_s"])
        ratio = value / float(before["value"])
        ratio *= 1 / slower_host if unit in TIMES else slower_host if unit in RATES else 1
        worse = 1 / ratio if unit not in LESS_IS_BETTER else ratio
        verdict = "SLOWER" if worse > 1 + TELLING else "faster" if worse < 1 - TELLING else "same"
        return f"{verdict}, {ratio:.2f} of {before['day']}"

    def keep(self) -> int:
        """Add this run's numbers to the file."""
        day, name = datetime.date.today().isoformat(), commit()
        begun = self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not begun:
                writer.writerow(COLUMNS)
            for (what, unit), value in self.new.items():
                writer.writerow((day, name, self.where, what, unit, f"{value:.4g}", f"{self.yard:.3f}"))
        return len(self.new)


THIS_RUN = History()


def note(what: str, value: float, unit: str) -> str:
    return THIS_RUN.note(what, value, unit)
