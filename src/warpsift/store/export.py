"""Results for other programs: CSV, Parquet, a pandas DataFrame, and a table in a notebook."""

from __future__ import annotations

import csv
import html
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsift.errors import WarpsiftError
from warpsift.store.canonical_json import to_json
from warpsift.store.rows import Row, columns_of

if TYPE_CHECKING:
    import pandas

NOTEBOOK_ROWS = 60


class ExportError(WarpsiftError):
    """Something that cannot be written in the form asked for."""


def _cell(value: Any) -> Any:
    """Lists and the like as JSON text: a cell holds one thing."""
    return to_json(value) if isinstance(value, (list, tuple, dict)) else value


def export(rows: Sequence[Row], path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Path:
    """Write rows to a .csv or .parquet file, complete or not at all."""
    target = Path(path)
    writers: dict[str, Callable[[Sequence[Row], Path, list[str]], None]] = {".csv": _csv, ".parquet": _parquet}
    if target.suffix not in writers:
        raise ExportError(f"cannot write {target}: name it something.csv or something.parquet")
    partial = target.with_name(target.name + ".partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        writers[target.suffix](rows, partial, list(columns or columns_of(rows)))
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ExportError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def _csv(rows: Sequence[Row], path: Path, columns: list[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)


def have_parquet() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def _parquet(rows: Sequence[Row], path: Path, columns: list[str]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ExportError(
            "Parquet needs the package pyarrow: pip install 'warpsift[parquet]', or write .csv"
        ) from error
    table = {name: _uniform([_cell(row.get(name)) for row in rows]) for name in columns}
    pyarrow.parquet.write_table(pyarrow.table(table), path)


def _uniform(values: list[Any]) -> list[Any]:
    """A Parquet column has one type: integers among fractions become fractions, anything else mixed becomes text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return values
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]


def rows_of(results: Any) -> list[Row]:
    """Rows of anything that has them: a run (its phases), a record, a sweep's results, or an iterable of these.

    Of several runs or records each gives one row; of a single run, each phase does.
    """
    if hasattr(results, "rows"):
        return results.rows()
    rows: list[Row] = []
    for each in results:
        if isinstance(each, dict):
            rows.append(each)
        elif hasattr(each, "phases") and hasattr(each, "as_dict"):
            rows.append(_run_row(each.as_dict()))
        else:
            rows += each.rows()
    return rows


def _run_row(result: dict[str, Any]) -> Row:
    """A run that is not in a store, as one row."""
    row: Row = {name: result[name] for name in ("algorithm", "style", "unit")}
    row["graph"] = result["graph"]["name"]
    row["gpu"] = (result.get("machine") or {}).get("name")
    for name, value in result.items():
        if name in row or name in ("phases", "machine", "array_traffic", "timeline"):
            continue
        if isinstance(value, dict):
            prefix = "" if name == "options" else f"{name}."
            row |= {f"{prefix}{inner}": _cell(v) for inner, v in value.items()}
        else:
            row[name] = value
    return row


def to_dataframe(results: Any) -> pandas.DataFrame:
    """Results as a pandas DataFrame; see `rows_of` for what may be given."""
    try:
        import pandas
    except ImportError as error:
        raise ExportError("a DataFrame needs the package pandas: pip install 'warpsift[notebook]'") from error
    return pandas.DataFrame(rows_of(results))


def html_table(rows: Sequence[Row], columns: Iterable[str] | None = None) -> str:
    """A table for a notebook's cell; everything in it is escaped."""
    from warpsift.store.rows import default_columns

    names = list(columns or (default_columns(rows) if rows else []))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_shown(row.get(name)))}</td>" for name in names) + "</tr>"
        for row in rows[:NOTEBOOK_ROWS]
    )
    more = f"<p>and {len(rows) - NOTEBOOK_ROWS} more</p>" if len(rows) > NOTEBOOK_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
