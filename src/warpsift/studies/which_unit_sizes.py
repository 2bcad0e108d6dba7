"""Sizes of "which unit suits which graph?": what to repeat at full size, which size counts, and what that changes.

A pair of graph and algorithm has up to nine contenders, and a full-size run may take minutes. So only the fastest of
the part go on: two styles of software and three units (SSSP: two), none less than half as fast as the best of its kind.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warpsift.run.request import Request
from warpsift.studies.which_unit_area import CONTENDERS
from warpsift.studies.which_unit_map import SOFTWARE, TIE, Cell

STYLES = 2
UNITS = 3
FEWER_UNITS = {"sssp": 2}  # its runs take longest
AS_FAST = 0.5  # as the best of its kind
DRAW = 0.05  # a gain so near to 1 may turn with the source (docs/which-unit.md)


def nearest(cell: Cell) -> list[str]:
    """The contenders of a pair that go on to full size, software first."""
    chosen: list[str] = []
    for is_unit, most in ((False, STYLES), (True, FEWER_UNITS.get(cell.algorithm, UNITS))):
        mine = {name: value for name, value in cell.values.items() if (name in CONTENDERS) is is_unit}
        ranked = sorted(mine, key=lambda name: mine[name])
        chosen += [name for name in ranked[:most] if mine[ranked[0]] >= AS_FAST * mine[name]]
    return chosen


def largest(sizes: Sequence[Cell]) -> Cell:
    """The largest size that may stand for a pair, with the smaller ones behind it; `sizes` has the larger first.

    It needs the style and the unit that were best where most contenders were run: without them it would flatter one
    side.
    """
    fullest = max(sizes, key=lambda cell: len(cell.values))
    needed = {fullest.best_software, fullest.best_unit}
    at = next(number for number, cell in enumerate(sizes) if needed <= set(cell.values))
    return replace(sizes[at], smaller=tuple(sizes[at + 1 :]))


def verdict(part: Cell, whole: Cell) -> str:
    """What the whole graph makes of the part's answer."""
    sides = [cell.winner if cell.winner in (SOFTWARE, TIE) else "unit" for cell in (part, whole)]
    if sides[0] != sides[1]:
        return "turns"
    return "holds" if part.winner == whole.winner else "another unit"


def size_rows(cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """A row per pair that was run at two sizes: who wins in the smallest and in the largest, and by how much."""
    rows = []
    for cell in cells:
        if cell.smaller:
            part = cell.smaller[-1]
            row: dict[str, Any] = {"gpu": cell.gpu, "graph": cell.graph, "algorithm": cell.algorithm}
            row |= {"part": part.part, "part's winner": part.winner, "part's gain": part.best_gain}
            row |= {"larger": cell.part or "whole", "winner": cell.winner, "gain": cell.best_gain}
            rows.append(row | {"contenders": f"{len(cell.values)} of {cell.possible}", "verdict": verdict(part, cell)})
    return rows


def changes(cells: Iterable[Cell]) -> dict[str, list[float]]:
    """For each unit, its gain at the largest size over that in the smallest part, for all pairs that have both."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        if cell.smaller:
            part = cell.smaller[-1]
            for unit in cell.units:
                if unit in part.values:
                    found.setdefault(unit, []).append(cell.gain(unit) / part.gain(unit))
    return found


def size_sentences(cells: Sequence[Cell]) -> list[str]:
    """May one conclude from parts? How many verdicts hold, and what becomes of gains."""
    rows = size_rows(cells)
    if not rows:
        return []
    counted = Counter(row["verdict"] for row in rows)
    near = sum(row["verdict"] == "turns" and _is_near(row) for row in rows)
    said = [
        f"{len(rows)} pairs were run at two sizes: {counted['holds']} verdicts hold, in {counted['another unit']} "
        f"another unit wins, {counted['turns']} turn ({near} of them within {DRAW:.0%} of 1 at both sizes)."
    ]
    for unit, ratios in changes(cells).items():
        said.append(
            f"{unit}: its gain on the larger graph is {statistics.median(ratios):.2f} of that on the part in the "
            f"median, {min(ratios):.2f} to {max(ratios):.2f} ({len(ratios)} pairs)."
        )
    return said


def _is_near(row: Mapping[str, Any]) -> bool:
    return all(abs(row[name] - 1) <= DRAW for name in ("part's gain", "gain"))


def sweep_text(points: Iterable[Request]) -> str:
    """A sweep file of these requests."""
    lines = ["# The contenders that were near to winning in a part, on the whole graph", ""]
    for request in points:
        said: dict[str, Any] = {"algorithm": request.algorithm, "graph": request.graph, "gpu": request.gpu}
        said |= {"style": request.style} if request.unit == "none" else {"unit": request.unit}
        said |= {"max_iterations": request.options.max_iterations} if request.algorithm == "pagerank" else {}
        said |= dict(request.overrides)
        lines += ["[[point]]", *(f"{name} = {_toml(value)}" for name, value in said.items()), ""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    return str(value) if str(value).isdigit() else f'"{value}"'
