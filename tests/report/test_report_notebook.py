"""The example notebook runs from top to bottom, and its cells show what a notebook can show."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from support.places import ROOT

NOTEBOOK = ROOT / "examples" / "sweep_and_report.ipynb"


def shown_by(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell; its value is that of its last line, as in a notebook."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def test_the_example_notebook():
    pytest.importorskip("pandas", reason="no pandas here: pip install 'warpsift[notebook]'")
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells), "outputs are not kept with the sources"
    names: dict[str, Any] = {}
    values = [shown_by("".join(cell["source"]), names) for cell in cells]
    run, results, table, figure, page = values
    assert run["transactions"].sum() == names["result"].transactions
    assert results._repr_html_().startswith("<table>") and len(results) == 16
    assert table.loc[("bfs", "kron-8"), "vertex"] > 0 and table.shape == (4, 2)
    assert "<svg" in figure._repr_html_()
    assert figure.matplotlib().axes[0].get_title(loc="left") == "bfs"
    assert page.read_text().startswith("<!doctype html>")
