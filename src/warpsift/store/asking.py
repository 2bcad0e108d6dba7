"""What `warpsift results` and `pareto` ask of a store: which runs, in what order, with which columns.

Whoever names the columns has only those decoded: 100,000 timed runs are two gigabytes of JSON.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from warpsift.store.designs import Comparison, compare
from warpsift.store.rows import (
    COUNTED_METRICS,
    TIMED_METRICS,
    QueryError,
    Row,
    flat_row,
    flat_rows,
    named_in,
    need_column,
    sort,
    where,
)
from warpsift.store.store import Record, Store
from warpsift.store.stored_json import no_collecting


def stored_rows(
    store: Path, tests: Sequence[str], all_versions: bool, columns: Collection[str] | None = None
) -> tuple[list[Record], list[Row], int]:
    """Records that pass the tests, their rows, and how many of other versions were left out.

    Of results all is decoded, or what belongs to these columns and to those of the tests.
    """
    named = None if columns is None else {*columns, *named_in(tests)}
    with no_collecting():
        with Store(store, readonly=True) as ledger:
            records = ledger.records(parts=None if named is None else {name.partition(".")[0] for name in named})
        left_out = 0
        if records and not all_versions:
            newest = records[-1].version
            left_out = sum(record.version != newest for record in records)
            records = [record for record in records if record.version == newest]
        rows = [flat_row(record) for record in records] if named is None else flat_rows(records, named)
    if tests:
        rows = where(rows, tests)
        kept = {row["key"] for row in rows}
        records = [record for record in records if record.key in kept]
    return records, rows, left_out


def ask(
    store: Path,
    tests: Sequence[str],
    order: Sequence[str],
    columns: Sequence[str] | None,
    pairs: tuple[str | None, Sequence[str]] = (None, ()),
    all_versions: bool = False,
) -> tuple[list[Row], Comparison | None, int]:
    """Rows in this order, their comparison if `pairs` (choice and metrics) asks for one, how many were left out.

    `columns`: None for all, otherwise those that are needed besides the main numbers.
    """
    choice, metrics = pairs
    needed = None
    if columns is not None and choice is None:
        needed = {*TIMED_METRICS, *COUNTED_METRICS, *columns, *(key.removeprefix("-") for key in order)}
    try:
        records, rows, left_out = stored_rows(store, tests, all_versions, needed)
        comparison = compare(records, choice, metrics) if choice else None
        rows = sort(comparison.rows if comparison else rows, order)
        for name in columns or () if rows else ():
            need_column(name, rows)
    except QueryError:
        if needed is None:
            raise
        return ask(store, tests, order, None, pairs, all_versions)  # an error that knows all columns
    return rows, comparison, left_out
