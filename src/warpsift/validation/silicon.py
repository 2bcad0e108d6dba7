"""The model beside measured cards: runs the cases, keeps their numbers, and makes tables and a picture of them.

Numbers are kept under the sources that made them, so that a second look costs nothing and an edit meets no stale one.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from warpsift.store.source_version import hash_of, source_version
from warpsift.validation.silicon_cases import GROUPS, Case

SHORTEST_US = 30.0  # below this a time is mostly the launch
TITLES = {
    "latency": "Pointer chase",
    "bandwidth": "DRAM bandwidth against resident threads",
    "cache": "Cache bandwidth",
    "spmv": "SpMV on a V100",
    "bfs": "BFS on a Tesla M60",
}


@dataclass(frozen=True)
class Found:
    """A case with the model's number."""

    case: Case
    ours: float

    @property
    def error(self) -> float:
        return self.ours / self.case.measured - 1


class Kept:
    """Numbers of earlier runs with the same sources: a small file in the user's cache."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or Path(platformdirs.user_cache_dir("warpsift")) / "silicon"
        version = hash_of(Path(__file__).parent, start=source_version())
        self._path = folder / f"{version}.json"
        try:
            self.numbers: dict[str, float] = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.numbers = {}

    def put(self, key: str, number: float) -> None:
        self.numbers[key] = number
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self.numbers, indent=1), encoding="utf-8")
        except OSError:  # a cache that cannot be written is no cache
            pass


def run_cases(cases: Sequence[Case], note: Callable[[str], None], kept: Kept | None = None) -> list[Found]:
    """The model's number for every case."""
    kept = kept or Kept()
    found = []
    for number, case in enumerate(cases, 1):
        if case.key not in kept.numbers:
            note(f"{number} of {len(cases)}: {case.gpu}, {TITLES[case.group]}, {case.label}")
            kept.put(case.key, case.run())
        found.append(Found(case, kept.numbers[case.key]))
    return found


CSV_COLUMNS = ("group", "gpu", "what", "measured", "ours", "unit", "launch_included", "error_percent")


def write_csv(found: Sequence[Found], path: Path) -> None:
    """A row per case."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(CSV_COLUMNS)
        for f in found:
            numbers = (
                f"{f.case.measured:g}",
                f"{f.ours:.5g}",
                f.case.unit,
                f"{f.case.apart:g}",
                f"{100 * f.error:.1f}",
            )
            rows.writerow((f.case.group, f.case.gpu, f.case.label, *numbers))


def mean_error(found: Sequence[Found]) -> float:
    return float(np.mean([abs(f.error) for f in found])) if found else 0.0


def rank_correlation(found: Sequence[Found]) -> float:
    """Spearman's."""
    theirs, ours = np.array([(f.case.measured, f.ours) for f in found]).T
    return float(np.corrcoef(theirs.argsort().argsort(), ours.argsort().argsort())[0, 1])


def sections(found: Sequence[Found]) -> list[dict[str, Any]]:
    """A table per group and card, with its summary."""
    made = []
    for group in GROUPS:
        for gpu in dict.fromkeys(f.case.gpu for f in found if f.case.group == group):
            mine = [f for f in found if f.case.group == group and f.case.gpu == gpu]
            rows = [_row(f) for f in mine]
            made.append({"title": f"{TITLES[group]}: {gpu}", "rows": rows, "notes": _notes(group, mine)})
    return made


def _row(f: Found) -> dict[str, Any]:
    row = {"what": f.case.label, "measured": f.case.measured, "ours": f.ours, "unit": f.case.unit}
    if f.case.apart:
        row["of which launch"] = f.case.apart
    return {**row, "error %": 100 * f.error}


def _notes(group: str, found: list[Found]) -> list[str]:
    if group != "spmv":
        return [f"mean absolute error {100 * mean_error(found):.1f} %"]
    long = [f for f in found if f.case.measured > SHORTEST_US]
    if len(long) < 3:
        return ["too few matrices above 30 us: give --graphs"]
    by_mapping: dict[str, list[Found]] = {}
    for f in long:
        by_mapping.setdefault(f.case.label.split(", ")[1], []).append(f)
    parts = ", ".join(f"{name} {100 * mean_error(mine):.0f} %" for name, mine in by_mapping.items())
    return [
        f"above {SHORTEST_US:g} us: mean absolute error {100 * mean_error(long):.1f} % ({parts}), "
        f"rank correlation {rank_correlation(long):.3f}"
    ]
