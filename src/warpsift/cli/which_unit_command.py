"""`warpsift study which-unit` and `modern`: units beside the best software, from stored runs of any size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsift.cli.app import CONTEXT, JsonOption, console, load_for
from warpsift.cli.guard import Interrupted
from warpsift.cli.study_command import GpuName, PlotOption, show, study
from warpsift.paths import check_output
from warpsift.report.pictures import PICTURES

if TYPE_CHECKING:
    from warpsift.store.store import Record
    from warpsift.studies.stored_runs import StoredRuns
    from warpsift.studies.which_unit_map import Cell

_MAKE_ONE = "make one with 'warpsift reproduce which-unit --scale medium'"

Stores = Annotated[list[Path], typer.Option("--store", help="A store of its runs; may be given several times.")]


def stored(stores: list[Path]) -> StoredRuns:
    """All finished runs of these stores."""
    from warpsift.store.store import Store
    from warpsift.studies.stored_runs import StoredRuns

    records: list[Record] = []
    for path in stores:
        with Store(path, readonly=True) as store:
            records += list(store.records())
    return StoredRuns(records, "")


def cells_of(stores: list[Path], energy: bool = False) -> list[Cell]:
    """The pairs of graph and algorithm of which these stores have software and a unit."""
    from warpsift.run.request import RequestError
    from warpsift.studies.which_unit import stored_cells
    from warpsift.studies.which_unit_map import joules_of, seconds_of

    cells = stored_cells(stored(stores), value=joules_of if energy else seconds_of)
    if not cells:
        raise RequestError(f"these stores have no pair of graph and algorithm with software and a unit; {_MAKE_ONE}")
    return cells


@study.command("which-unit", context_settings=CONTEXT)
def which_unit(
    stores: Stores,
    energy: Annotated[
        bool, typer.Option("--energy", help="Compare joules, at today's prices, instead of time.")
    ] = False,
    table: Annotated[Path | None, typer.Option("--table", help="Write the table to a .csv file.")] = None,
    plot: PlotOption = None,
    whole: Annotated[
        Path | None, typer.Option("--whole", help="Write a sweep .toml: nearest contenders of parts on whole graphs.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Which unit suits which graph, from stored runs: the map, the table behind it, and who wins.

    Runs nothing; `warpsift reproduce which-unit` makes the stores. A pair is shown at the largest size of which there
    is software and a unit. Sampled runs count with their intervals: what lies within them is a tie.

    \b
    Example:
      warpsift reproduce which-unit --scale medium
      warpsift study which-unit --store reproduce-which-unit/results.db --table which-unit.csv --plot which-unit.png
      warpsift study which-unit --store reproduce-which-unit/results.db --whole whole.toml
      warpsift sweep whole.toml --store whole.db
      warpsift study which-unit --store reproduce-which-unit/results.db --store whole.db
    """
    for path, option, endings in (
        (plot, "--plot", PICTURES),
        (table, "--table", (".csv",)),
        (whole, "--whole", (".toml",)),
    ):
        if path is not None:
            check_output(path, option, endings)
    from warpsift.report.charts import save
    from warpsift.studies import which_unit_map as shown
    from warpsift.studies import which_unit_sizes as sizes
    from warpsift.studies.which_unit import whole_graphs

    cells = cells_of(stores, energy)
    if plot is not None:
        title = "Which unit suits which graph?" + (" Energy" if energy else "")
        save(shown.heat_figure(cells, "which-unit", title).matplotlib(), plot)
    if table is not None:
        shown.write_csv(cells, table)
    if whole is not None:
        whole.write_text(sizes.sweep_text(whole_graphs(cells)))
    rows = shown.table_rows(cells)
    columns = ["gpu", "graph", "loaded", "algorithm", "winner", "gain", "interval", "contenders", "best software"]
    show(rows, columns, (None, None), as_json)
    if as_json:
        return
    show(shown.unit_rows(cells), ["gpu", "unit", "pairs", "ahead", "held back by"], (None, None), False)
    at_two = sizes.size_rows(cells)
    if at_two:
        show(at_two, list(at_two[0]), (None, None), False)
    for sentence in [*shown.sentences(cells), *sizes.size_sentences(cells)]:
        console().print(sentence)


@study.command("accesses", context_settings=CONTEXT)
def accesses(
    stores: Stores,
    unit: Annotated[str, typer.Option(help="SCU, scu-slice, IRU, MFF, scu+mff or ISCU.")] = "ISCU",
    table: Annotated[Path | None, typer.Option("--table", help="Write the rows to a .csv file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """What a unit saves of the plain GPU's frontier style, from stored runs: time, energy, accesses at three places.

    \b
    Example:
      warpsift study accesses --store reproduce-which-unit/results.db --unit ISCU
    """
    if table is not None:
        check_output(table, "--table", (".csv",))
    from warpsift.errors import unknown
    from warpsift.run.request import RequestError
    from warpsift.studies import unit_accesses as module
    from warpsift.studies.modern_gpu import write_csv
    from warpsift.studies.which_unit_area import CONTENDERS

    if unit not in CONTENDERS:
        raise RequestError(unknown("unit of this study", unit, list(CONTENDERS)))
    rows = module.rows_of(stored(stores), unit)
    if not rows:
        raise RequestError(f"these stores have no run of {unit} beside one in the frontier style; {_MAKE_ONE}")
    if table is not None:
        write_csv(rows, table)
    show(rows, list(rows[0]), (None, None), as_json)
    if not as_json:
        sums = module.means(rows)
        show(sums, list(sums[0]), (None, None), False)


@study.command("modern", context_settings=CONTEXT)
def modern(
    graph: Annotated[str | None, typer.Option("--graph", "-g", help="Run every system on this graph.")] = None,
    stores: Annotated[
        list[Path] | None, typer.Option("--store", help="Runs nothing: from stores of 'reproduce which-unit'.")
    ] = None,
    gpu: GpuName = "a100",
    algorithms: Annotated[str, typer.Option(help="Separated by commas.")] = "bfs,sssp,pagerank,wcc",
    table: Annotated[Path | None, typer.Option("--table", help="Write the table to a .csv file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Software and units on a GPU of today, with the units' areas at its process.

    \b
    Example:
      warpsift study modern --graph kron-15 --table modern.csv
      warpsift study modern --graph kron-14 --gpu v100 --algorithms bfs
      warpsift study modern --store reproduce-which-unit/results.db
    """
    if table is not None:
        check_output(table, "--table", (".csv",))
    from warpsift.report.progress import Progress
    from warpsift.run.request import RequestError, algorithm_named
    from warpsift.studies import modern_gpu as module

    names = [algorithm_named(name).name for name in algorithms.split(",")]
    if (graph is None) == (not stores):
        raise RequestError("write either --graph GRAPH, to run, or --store FILE, for runs of 'reproduce which-unit'")
    if graph is None:
        rows = module.over_graphs([cell for cell in cells_of(stores or []) if cell.algorithm in names], gpu)
        columns = ["algorithm", "system", "graphs", "ahead", "median", "least", "most", "mm2", "die_percent"]
    else:
        loaded = load_for(graph, f"units on {gpu}, {graph}")
        with Progress(f"units on {gpu}, {graph}") as progress:
            rows = module.study(loaded, names, gpu, progress.note)
        columns = ["algorithm", "system", "us", "speedup", "mm2", "die_percent"]
    if table is not None:
        module.write_csv(rows, table)
    show(rows, columns, (None, None), as_json)


@study.command("limits", context_settings=CONTEXT)
def limits(
    store: Annotated[Path, typer.Option("--store", help="The file that holds the results.")] = Path("limits.db"),
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes; default: one per core.")] = None,
    as_json: JsonOption = False,
) -> None:
    """What holds a unit back, tried: twice of what the word names, and twice of something else; half of the SMs.

    \b
    Example:
      warpsift study limits --store limits.db
    """
    from warpsift.studies import limit_experiments as module
    from warpsift.sweep import SweepOptions

    try:
        rows = module.study(store, SweepOptions(workers=workers, quiet=as_json))
    except KeyboardInterrupt:
        raise Interrupted(f"finished runs are in {store}; the same command goes on from there") from None
    show(rows, list(rows[0]), (None, None), as_json)
