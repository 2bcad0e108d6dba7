"""`warpsift validate`: the model beside trusted simulators and the limits of the hardware."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warpsift.cli.app import CONTEXT, JsonOption, app, console, print_json
from warpsift.paths import check_output
from warpsift.report.pictures import PICTURES


@app.command(context_settings=CONTEXT)
def validate(
    what: Annotated[str, typer.Argument(help="all: timing and DRAM; watts: measured power of a V100.")] = "all",
    counters: Annotated[Path | None, typer.Option(help="watts: event counts of kernels (CSV).")] = None,
    power: Annotated[Path | None, typer.Option(help="watts: kernel,mean_watts (CSV) instead of the shipped.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw cycles against GPGPU-Sim's: a .png or .svg file.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out programs that take longer than a few seconds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare latencies, bandwidth, whole programs and DRAM with reference results; about half a minute.

    \b
    Examples:
      warpsift validate
      warpsift validate --plot docs/images/validation.png
      warpsift validate watts
    """
    if plot is not None:
        check_output(plot, "--plot", PICTURES)
    if what == "watts":
        _watts(counters, power, as_json)
        return
    if what != "all":
        from warpsift.run.request import RequestError, unknown

        raise RequestError(unknown("thing to validate", what, ["all", "watts"]))
    from warpsift.report.progress import Progress
    from warpsift.validation.agreement_tables import draw_scatter, sections

    with Progress("validate") as progress:
        found, comparisons = sections(progress.note, quick)
    if plot is not None:
        draw_scatter(comparisons, plot)
    if as_json:
        print_json(found)
        return
    from rich.text import Text

    from warpsift.report.screen_tables import table_of

    screen = console()
    for section in found:
        columns = list(section["rows"][0])
        screen.print(table_of(section["title"], columns, [[_cell(row[c]) for c in columns] for row in section["rows"]]))
        for line in section["notes"]:
            screen.print(Text(line))
        screen.print()


def _watts(counters: Path | None, power: Path | None, as_json: bool) -> None:
    from warpsift.validation import watts

    found = watts.table(counters or watts.COUNTERS, power or watts.WATTS)
    if as_json:
        print_json(found)
    else:
        typer.echo("\n".join(watts.text(found)))


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
