"""How tables look on the screen.

A terminal that is too narrow for a table gets fewer columns, whole, and a line with the names of the others; a file or
a pipe gets them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

LONG_TEXT = 24  # characters: longer cells are sentences, which may be broken at their spaces
BROKEN_TEXT = 16  # characters a line that a sentence is left at least
PADDING = 1  # between columns


def thousands(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")


class FittingTable:
    """A plain table: numbers are right-aligned, words left-aligned. Cells are text, never markup."""

    def __init__(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], important: Sequence[str] = ()
    ) -> None:
        self._title = title
        self._columns = list(columns)
        self._rows = [[str(cell) for cell in row] for row in rows]
        self._important = list(important)  # these stay longest, the first of them to the end

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        every = range(len(self._columns))
        if not console.is_terminal:  # a file keeps what there is
            yield self._table(every)
            return
        kept = self.columns_for(options.max_width)
        yield self._table(kept)
        left_out = [self._columns[k] for k in every if k not in kept]
        if left_out:
            yield Text(f"no room for {', '.join(left_out)}", style="dim")

    def columns_for(self, width: int) -> list[int]:
        """The columns that are shown in so many characters; two are always shown."""
        kept = list(range(len(self._columns)))
        for column in self._least_important_first():
            if self._least_width(kept) <= width or len(kept) <= 2:
                break
            kept.remove(column)
        return kept

    def _least_important_first(self) -> list[int]:
        others = [k for k, name in enumerate(self._columns) if k and name not in self._important]
        named = [self._columns.index(name) for name in self._important if name in self._columns]
        return [*reversed(others), *(k for k in reversed(named) if k)]

    def _cells(self, column: int) -> list[str]:
        return [self._columns[column], *(row[column] for row in self._rows)]

    def _is_long(self, column: int) -> bool:
        return any(cell_len(cell) > LONG_TEXT and " " in cell for cell in self._cells(column))

    def _is_numbers(self, column: int) -> bool:
        """Whether every cell that says something begins with a digit, as 1 234, 21.4 % and -0.5 do."""
        return all(re.match(r"[-−+~<]?[\d.]", row[column]) for row in self._rows if row[column])

    def _least_width(self, columns: Sequence[int]) -> int:
        total = PADDING * (len(columns) - 1)
        for column in columns:
            cells = self._cells(column)
            if self._is_long(column):
                words = [word for cell in cells for word in cell.split()]
                total += max(BROKEN_TEXT, cell_len(cells[0]), *map(cell_len, words))
            else:
                total += max(map(cell_len, cells))
        return total

    def _table(self, columns: Sequence[int]) -> Table:
        table = Table(title=Text(self._title), title_justify="left", header_style="bold", box=None, pad_edge=False)
        for column in columns:
            justify: Any = "right" if column and self._is_numbers(column) else "left"
            table.add_column(Text(self._columns[column]), justify=justify, no_wrap=not self._is_long(column))
        for row in self._rows:
            table.add_row(*(Text(row[column]) for column in columns))
        return table


def table_of(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], important: Sequence[str] = ()
) -> FittingTable:
    """A table for `console.print`; of `important` columns the first stay longest on a narrow terminal."""
    return FittingTable(title, columns, rows, important)
