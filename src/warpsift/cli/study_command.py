"""`warpsift study`: the MFF paper's motivation, its alternative, and its baseline, on any graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warpsift.cli.app import (
    CONTEXT,
    GraphOption,
    JsonOption,
    SetOption,
    app,
    console,
    load_for,
    overrides_of,
    print_json,
)
from warpsift.cli.guard import Interrupted
from warpsift.paths import check_output
from warpsift.report.pictures import PICTURES

study = typer.Typer(
    help="Studies of temporal coalescing, larger caches, unrolled loops, the SCU's successors, units beside software.",
    no_args_is_help=True,
)
app.add_typer(study, name="study")
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Draw it: a .png, .svg or .pdf file.")]
GpuName = Annotated[str, typer.Option("--gpu", help="The machine to time on.")]


@study.command("temporal-window", context_settings=CONTEXT)
def temporal_window(
    graph: GraphOption,
    gpu: GpuName = "gtx480",
    reading: Annotated[str | None, typer.Option(help="authors, hardware or a .toml file; see 'list readings'.")] = None,
    set_: SetOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Memory traffic after L1 and L2 when a warp merges requests over a window of operations (MFF paper, Fig. 5).

    \b
    Example:
      warpsift study temporal-window --graph dblp-2010/dblp-2010.graph --plot window.png
      warpsift study temporal-window --graph amazon-2008 --reading authors
    """
    _check(plot)
    from warpsift.report.progress import Progress
    from warpsift.studies import window_study as module

    loaded = load_for(graph, f"temporal window on {graph}")
    with Progress(f"temporal window on {graph}") as progress:
        rows = module.study(loaded, gpu=gpu, overrides=overrides_of(set_), note=progress.note, reading=reading)
    columns = ["window", "cycles", "requests", "after_l1", "after_l2", "after_l1_relative", "after_l2_relative"]
    show(rows, columns, (plot, module.plot), as_json)


@study.command("caches", context_settings=CONTEXT)
def caches(
    graph: GraphOption,
    gpu: GpuName = "gtx480",
    algorithms: Annotated[str, typer.Option(help="Separated by commas: pagerank, bfs, sssp, wcc.")] = "pagerank,bfs",
    max_iterations: Annotated[int | None, typer.Option(help="Super-steps, other than PageRank's one.")] = None,
    set_: SetOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """L1 and L2 scaled 1 to 16 times at unchanged latency, against the MFF (MFF paper, section 6.2).

    PageRank runs one super-step, since all are alike.

    \b
    Example:
      warpsift study caches --graph amazon-2008@1/8 --plot caches.png
      warpsift study caches --graph dblp-2010 --algorithms sssp --max-iterations 12
    """
    _check(plot)
    from warpsift.report.progress import Progress
    from warpsift.run.request import algorithm_named
    from warpsift.studies import cache_study as module

    names = [algorithm_named(name).name for name in algorithms.split(",")]
    loaded = load_for(graph, f"cache study on {graph}")
    with Progress(f"cache study on {graph}") as progress:
        choices = {"overrides": overrides_of(set_), "max_iterations": max_iterations}
        rows = module.study(loaded, names, gpu, choices, progress.note)
    columns = ["algorithm", "instead", "factor", "cycles", "dram_bytes", "speedup", "share_of_mff"]
    show(rows, columns, (plot, module.plot), as_json)


@study.command("unrolling", context_settings=CONTEXT)
def unrolling(
    graph: GraphOption,
    gpu: GpuName = "gtx980",
    algorithms: Annotated[str, typer.Option(help="Separated by commas.")] = "pagerank,bfs,sssp,wcc",
    max_iterations: Annotated[int | None, typer.Option(help="Super-steps, other than PageRank's one.")] = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Thread-per-vertex baselines and the MFF's speedup, with loops as written and unrolled by four.

    \b
    Example:
      warpsift study unrolling --graph kron-14
      warpsift study unrolling --graph kron-14 --gpu gtx480
    """
    from warpsift.report.progress import Progress
    from warpsift.run.request import algorithm_named
    from warpsift.studies import unrolling_study as module

    names = [algorithm_named(name).name for name in algorithms.split(",")]
    loaded = load_for(graph, f"unrolling on {graph}")
    with Progress(f"unrolling on {graph}") as progress:
        choices = {"overrides": overrides_of(set_), "max_iterations": max_iterations}
        rows = module.study(loaded, names, gpu, choices, progress.note)
    columns = ["algorithm", "unroll", "plain_cycles", "mff_cycles", "plain_gain", "mff_speedup"]
    show(rows, columns, (None, None), as_json)


@study.command("successors", context_settings=CONTEXT)
def successors(
    graph: GraphOption,
    gpu: GpuName = "gtx980",
    algorithms: Annotated[str, typer.Option(help="Separated by commas.")] = "bfs,sssp",
    units: Annotated[str, typer.Option(help="Separated by commas.")] = "scu,scu-slice,iscu,iru",
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """The SCU beside the units that followed from its limits: time, energy, network traffic, area.

    \b
    Example:
      warpsift study successors --graph kron-14
      warpsift study successors --graph kron-14 --algorithms bfs,sssp,pagerank --units iru
      warpsift study successors --graph cond --gpu tx1 --set scu.other_life=persistent
    """
    from warpsift.report.progress import Progress
    from warpsift.run.request import algorithm_named
    from warpsift.studies import successors as module

    names = [algorithm_named(name).name for name in algorithms.split(",")]
    loaded = load_for(graph, f"successors on {graph}")
    with Progress(f"successors on {graph}") as progress:
        rows = module.study(loaded, names, gpu, overrides_of(set_), units.split(","), progress.note)
    columns = ["algorithm", "design", "cycles", "speedup", "energy", "flits", "mm2", "check"]
    show(rows, columns, (None, None), as_json)


@study.command("stand-ins", context_settings=CONTEXT)
def stand_ins(
    graphs: Annotated[str, typer.Option(help="Names of the papers' graphs, separated by commas.")] = (
        "dblp-2010,cnr-2000,cond"
    ),
    as_json: JsonOption = False,
) -> None:
    """The papers' real graphs beside their stand-ins: hubs, clustering, locality.

    Needs the real files: set WARPSIFT_DATA_DIR to their folder.

    \b
    Example:
      WARPSIFT_DATA_DIR=~/graphs warpsift study stand-ins --graphs cnr-2000
    """
    from warpsift.graph.likeness import likeness
    from warpsift.graph.real_files import find_real, how_to_get
    from warpsift.report.screen_tables import table_of
    from warpsift.run.request import RequestError

    columns: dict[str, dict[str, Any]] = {}
    for name in [name.strip() for name in graphs.split(",") if name.strip()]:
        if find_real(name) is None:
            raise RequestError(f"{name}: its file is in no data folder; {how_to_get(name) or 'no paper has it'}")
        columns[f"{name}, real"] = likeness(load_for(name, f"reading {name}"))
        columns[f"{name}, stand-in"] = likeness(load_for(f"{name}@1", f"generating {name}"))
    if as_json:
        print_json(columns)
        return
    rows = [[fact, *(column[fact] for column in columns.values())] for fact in next(iter(columns.values()))]
    console().print(table_of("", ["", *columns], rows))


@study.command("waterfall", context_settings=CONTEXT)
def waterfall(
    paper: Annotated[str, typer.Argument(help="scu or mff.")],
    graphs: Annotated[str, typer.Option(help="Separated by commas; a name such as kron@1/8 takes a part.")] = "cond",
    store: Annotated[Path, typer.Option("--store", help="The file that holds the results.")] = Path("waterfall.db"),
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes; default: one per core.")] = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """From the unit as modelled to the paper's speedup, one choice after the other: what would have to change.

    \b
    Example:
      warpsift study waterfall scu --graphs cond --plot waterfall.png
      warpsift study waterfall mff --graphs dblp-2010
    """
    _check(plot)
    from warpsift.report.charts import save
    from warpsift.studies import waterfall as module
    from warpsift.sweep import SweepOptions

    names = [name.strip() for name in graphs.split(",") if name.strip()]
    try:
        figure = module.study(paper, names, store, SweepOptions(workers=workers, quiet=as_json))
    except KeyboardInterrupt:
        raise Interrupted(f"finished runs are in {store}; the same command goes on from there") from None
    stated = {each.claim: each.value for each in figure.paper_values}
    rows = [{"by graph": "", **row, "paper": stated[row["claim"]]} for row in figure.rows]
    columns = ["claim", "step", "kind", "value", "paper", "by graph"]
    show(rows, columns, (plot, lambda _, path: save(figure.matplotlib(), path)), as_json)


@study.command("sampling", context_settings=CONTEXT)
def sampling(
    store: Annotated[Path, typer.Option("--store", help="The file that holds the results.")] = Path("sampling.db"),
    sample: Annotated[int, typer.Option(min=2, help="Time one part in so many.")] = 20,
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes; default: one per core.")] = None,
    table: Annotated[Path | None, typer.Option("--table", help="Write the table to a .csv file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Sampled runs beside full ones: errors, intervals and how often they hold; may be stopped and started again.

    \b
    Example:
      warpsift study sampling --store sampling.db --table sampling.csv
    """
    if table is not None:
        check_output(table, "--table", (".csv",))
    from warpsift.studies import sampling_study as module
    from warpsift.sweep import SweepOptions

    try:
        rows = module.study(store, sample, SweepOptions(workers=workers, quiet=as_json))
    except KeyboardInterrupt:
        raise Interrupted(f"finished runs are in {store}; the same command goes on from there") from None
    if table is not None:
        module.write_csv(rows, table)
    columns = [
        "algorithm",
        "style",
        "unit",
        "graph",
        "gpu",
        "cycles",
        "error",
        "half_interval",
        "covered",
        "timed_share",
    ]
    show(rows, columns, (None, None), as_json)
    if not as_json:
        console().print(module.summary(rows))


def _check(plot: Path | None) -> None:
    """Before the simulations: is there a place for the picture?"""
    if plot is not None:
        check_output(plot, "--plot", PICTURES)


def show(rows: list[dict[str, Any]], columns: list[str], drawing: tuple[Path | None, Any], as_json: bool) -> None:
    path, draw = drawing
    if path is not None:
        draw(rows, path)
    if as_json:
        print_json(rows)
        return
    from warpsift.report.screen_tables import table_of

    cells = [[f"{row[c]:.4g}" if isinstance(row[c], float) else row[c] for c in columns] for row in rows]
    console().print(table_of("", columns, cells))
