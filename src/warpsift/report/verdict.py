"""What a page opens with: how much of the paper was met, and every value that was not, farthest first.

A value is met within `MET`, and close within a factor of `CLOSE`. Opposite is worse than far: the paper's value lies on
one side of the figure's reference (1 for a speedup) and ours on the other, so that the two contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warpsift.report.figures import Figure, Report
from warpsift.report.html_parts import opposite_words, text
from warpsift.report.numbers import shown

MET = 0.25  # a share of the paper's value
CLOSE = 2.0  # a factor
SHOWN_MISSES = 20


@dataclass(frozen=True)
class Finding:
    """One of the paper's values, ours, and how they lie to each other."""

    figure: int
    claim: str
    ours: float
    paper: float
    ratio: float
    opposite: bool
    better: str | None
    how: str  # numbers are written in this form

    @property
    def met(self) -> bool:
        return abs(self.ratio - 1) <= MET and not self.opposite

    @property
    def distance(self) -> float:
        return abs(math.log(self.ratio)) if self.ratio > 0 else math.inf

    @property
    def comment(self) -> str:
        """What is wrong, in words."""
        if self.opposite:
            return opposite_words(self.ours, self.paper, self.better)
        if self.ratio <= 0:
            return "of the other sign"
        return f"{shown(self.ratio)} times the paper's" if self.ratio > 1 else f"{shown(self.ratio)} of the paper's"


def findings(figures: Sequence[Figure]) -> list[Finding]:
    """Every value of a paper that there is one of ours for."""
    found = []
    for number, figure in enumerate(figures):
        for row in figure.comparison():
            if row["ratio"] is not None:
                values = (row["claim"], row["ours"], row["paper"], row["ratio"], row["opposite"])
                found.append(Finding(number, *values, figure.chart.better, figure.chart.y_format))
    return found


def verdict_words(found: Sequence[Finding]) -> str:
    """One paragraph."""
    met = sum(each.met for each in found)
    opposite = sum(each.opposite for each in found)
    close = sum(1 / CLOSE <= each.ratio <= CLOSE and not each.opposite for each in found)
    verb = "is" if met == 1 else "are"
    words = (
        f"Of {len(found)} values that the paper states, {met} {verb} met within {100 * MET:.0f} % "
        f"and {close} within a factor of {CLOSE:g}."
    )
    if opposite:
        words += f" {opposite} {'points' if opposite == 1 else 'point'} the opposite way."
    return words


def verdict_html(report: Report, names: Sequence[str]) -> str:
    """The section in front of the figures; nothing where no paper's value is given."""
    found = findings(report.figures)
    if not found or not report.conclusive:
        return ""
    misses = sorted((f for f in found if not f.met), key=lambda f: (not f.opposite, -f.distance))
    rows = "".join(_row(miss, names[miss.figure], report.figures[miss.figure]) for miss in misses[:SHOWN_MISSES])
    more = len(misses) - SHOWN_MISSES
    note = f'<p class="empty">and {more} nearer ones, beside their figures</p>' if more > 0 else ""
    head = "".join(f"<th>{name}</th>" for name in ("not met", "ours", "paper", "", "figure"))
    table = f'<div class="scroll"><table class="wide"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    return (
        f'<section class="about verdict" id="verdict"><h2>What comes out</h2><p>{text(verdict_words(found))}</p>'
        + (table + note if misses else "<p>Every value is met.</p>")
        + "</section>"
    )


def _row(miss: Finding, name: str, figure: Figure) -> str:
    level = "opposite" if miss.opposite else "far" if miss.distance > math.log(CLOSE) else "off"
    cells = [f"<td>{text(miss.claim)}</td>"]
    cells += [f'<td class="number">{text(shown(value, miss.how))}</td>' for value in (miss.ours, miss.paper)]
    cells.append(f'<td><span class="tag {level}">{text(miss.comment)}</span></td>')
    title: Any = figure.paper_reference or figure.title
    cells.append(f'<td><a href="#{name}">{text(title)}</a></td>')
    return f"<tr>{''.join(cells)}</tr>"
