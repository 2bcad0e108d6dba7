"""`warpsift reproduce`: a paper's evaluation with one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpsift.cli.app import CONTEXT, app, console
from warpsift.cli.guard import Interrupted


@app.command(context_settings=CONTEXT)
def reproduce(
    paper: Annotated[str, typer.Argument(help="scu, mff, or which-unit (a study of our own)")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Graphs at 1/32 of the size; about 2 minutes on 2 cores.")
    ] = False,
    scale: Annotated[str, typer.Option(help="quick (1/32), medium (1/8) or full.")] = "full",
    graphs: Annotated[
        Path | None, typer.Option(help="A folder with the papers' real graphs; others are stand-ins.")
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(help="Choices for what the paper leaves open: authors (default), hardware or a .toml file."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=0, help="Time one part in so many, with intervals; 0: all. Default: 20 at full size, else 0."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the report goes; default: reproduce-PAPER.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes; default: one per core.")] = None,
    dask: Annotated[str | None, typer.Option(help="Run on the Dask cluster with this scheduler address.")] = None,
) -> None:
    """Run every figure and table of a paper's evaluation and write a report; may be stopped and started again.

    \b
    Examples:
      warpsift reproduce scu --quick
      warpsift reproduce mff --scale medium --reading authors -o mff-report
      warpsift reproduce scu --graphs suitesparse/
      warpsift reproduce scu && warpsift reproduce scu --reading hardware    # the second adds a column
    """
    from rich.text import Text

    from warpsift.report.screen_tables import table_of
    from warpsift.studies.reproduce import Plan, scale_named
    from warpsift.studies.reproduce import reproduce as run_all
    from warpsift.sweep import SweepOptions

    name = "quick" if quick else scale
    folder = out or Path(f"reproduce-{paper}")
    plan = Plan(
        paper, scale_named(name, paper, graphs, reading, sample), folder, SweepOptions(workers=workers, dask=dask)
    )
    try:
        page, figures = run_all(plan)
    except KeyboardInterrupt:
        raise Interrupted(f"finished runs are in {folder}; the same command goes on from there") from None
    screen = console()
    for figure in figures:
        rows = [
            [row["claim"], _number(row["ours"]), _number(row["paper"]), _number(row["ratio"])]
            for row in figure.comparison()
        ]
        if rows:
            title = f"{figure.paper_reference}: {figure.title}"
            screen.print(table_of(title, ["", "ours", "paper", "ratio"], rows))
    screen.print(Text(f"report: {page}"))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
