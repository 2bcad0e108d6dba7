"""Bars of a comparison for a terminal: time of each unit against the plain GPU, the GPU's part and the unit's."""

from __future__ import annotations

from typing import Any

WIDTH = 48  # characters of the longest bar
NUMBER = 8  # characters for the spaces and the number behind a bar
BLOCKS, PLAIN = ("█", "░"), ("#", "-")  # GPU, unit; for terminals that cannot show blocks


def bar_lines(rows: list[dict[str, Any]], encoding: str = "utf-8", width: int = 120) -> list[str]:
    """One line per row of `Comparison.as_dict()["units"]`, and a legend; a line has at most `width` characters."""
    marks = BLOCKS if "utf" in encoding.lower() else PLAIN
    base = rows[0]["seconds"] or 1.0
    longest = max(row["seconds"] for row in rows) or 1.0
    labels = [row["unit"] for row in rows]
    if len({row["style"] for row in rows}) > 1:
        labels = [f"{row['unit']} ({row['style']})" for row in rows]
    room = max(len(label) for label in labels)
    space = max(8, min(WIDTH, width - room - NUMBER))
    lines = []
    for label, row in zip(labels, rows, strict=True):
        whole = round(space * row["seconds"] / longest)
        gpu = min(whole, round(space * row["gpu_seconds"] / longest))
        bar = marks[0] * gpu + marks[1] * (whole - gpu)
        lines.append(f"{label:{room}}  {bar} {row['seconds'] / base:.2f}")
    return [*lines, f"{'':{room}}  time, {labels[0]} = 1; {marks[0]} GPU, {marks[1]} unit"]
