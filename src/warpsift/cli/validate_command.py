"""`warpsift validate`: the model beside trusted simulators and the limits of the hardware."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warpsift.cli.app import CONTEXT, JsonOption, app, console, print_json
from warpsift.paths import PathError, check_output, is_folder
from warpsift.report.pictures import PICTURES


@app.command(context_settings=CONTEXT)
def validate(
    what: Annotated[
        str,
        typer.Argument(help="all: simulators; silicon: measured cards; watts: measured power of a V100."),
    ] = "all",
    counters: Annotated[Path | None, typer.Option(help="watts: event counts of kernels (CSV).")] = None,
    power: Annotated[Path | None, typer.Option(help="watts: kernel,mean_watts (CSV) instead of the shipped.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw cycles against GPGPU-Sim's: a .png or .svg file.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out programs that take longer than a few seconds.")
    ] = False,
    graphs: Annotated[
        Path | None,
        typer.Option(help="silicon: a folder with SuiteSparse's and SNAP's files for SpMV; else WARPSIFT_DATA_DIR."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="silicon: also what takes minutes, and BFS on kron-21.")] = False,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="silicon: write a row per number to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare latencies, bandwidth, whole programs and DRAM with reference results; about half a minute.

    \b
    Examples:
      warpsift validate
      warpsift validate --plot docs/images/validation.png
      warpsift validate silicon --graphs ~/graphs --plot silicon.png
      warpsift validate watts
    """
    if plot is not None:
        check_output(plot, "--plot", PICTURES)
    if csv_file is not None:
        check_output(csv_file, "--csv")
    if what == "watts":
        _watts(counters, power, as_json)
        return
    if what == "silicon":
        _silicon(graphs, (plot, csv_file), quick, full, as_json)
        return
    if what != "all":
        from warpsift.errors import unknown
        from warpsift.run.request import RequestError

        raise RequestError(unknown("thing to validate", what, ["all", "silicon", "watts"]))
    from warpsift.report.progress import Progress
    from warpsift.validation.agreement_tables import draw_scatter, sections

    with Progress("validate") as progress:
        found, comparisons = sections(progress.note, quick)
    if plot is not None:
        draw_scatter(comparisons, plot)
    _show(found, as_json)


def _silicon(
    graphs: Path | None, files: tuple[Path | None, Path | None], quick: bool, full: bool, as_json: bool
) -> None:
    from warpsift.graph.real_files import data_folders
    from warpsift.report.progress import Progress
    from warpsift.validation import silicon
    from warpsift.validation.silicon_cases import GROUPS, cases, gpus
    from warpsift.validation.silicon_picture import draw

    if graphs is not None and not is_folder(graphs):
        raise PathError(f"--graphs {graphs}: there is no such folder")
    folder = graphs or next(iter(data_folders()), None)
    with Progress("validate silicon") as progress:
        chosen = cases(("latency", "cache") if quick else GROUPS, gpus(), folder, full)
        found = silicon.run_cases(chosen, progress.note)
    plot, csv_file = files
    if plot is not None:
        draw(found, plot)
    if csv_file is not None:
        silicon.write_csv(found, csv_file)
    _show(silicon.sections(found), as_json)


def _show(found: list[dict[str, Any]], as_json: bool) -> None:
    """Tables with their notes, or all of it as JSON."""
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
