"""How tables look on the screen."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text


def thousands(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


def table_of(title: str, columns: list[str], rows: list[list[Any]]) -> Table:
    """A plain table; the first column is left-aligned, the others right-aligned. Cells are text, never markup."""
    table = Table(title=Text(title), title_justify="left", header_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    return table
