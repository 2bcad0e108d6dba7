"""Rows of Markdown tables, as the pages of the documentation hold them."""

from __future__ import annotations

from collections.abc import Iterable


def line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def head(cells: Iterable[str]) -> str:
    """The two lines on top."""
    names = list(cells)
    return f"{line(names)}\n{'|---' * len(names)}|"


def shares(values: Iterable[float]) -> list[str]:
    return [f"{value:.1%}" for value in values]


def means(rows: Iterable[Iterable[float]]) -> list[float]:
    """The mean of each column."""
    columns = list(zip(*rows, strict=True))
    return [sum(column) / len(column) for column in columns]
