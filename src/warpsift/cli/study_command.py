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
from warpsift.paths import check_output
from warpsift.report.pictures import PICTURES

study = typer.Typer(help="Studies of temporal coalescing, larger caches and unrolled loops.", no_args_is_help=True)
app.add_typer(study, name="study")
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Draw it: a .png, .svg or .pdf file.")]
GpuName = Annotated[str, typer.Option("--gpu", help="The machine to time on.")]


@study.command("temporal-window", context_settings=CONTEXT)
def temporal_window(
    graph: GraphOption,
    gpu: GpuName = "gtx480",
    set_: SetOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Memory traffic after L1 and L2 when a warp merges requests over a window of operations (MFF paper, Fig. 5).

    \b
    Example:
      warpsift study temporal-window --graph dblp-2010/dblp-2010.graph --plot window.png
    """
    _check(plot)
    from warpsift.report.progress import Progress
    from warpsift.studies import temporal_window as module

    loaded = load_for(graph, f"temporal window on {graph}")
    with Progress(f"temporal window on {graph}") as progress:
        rows = module.study(loaded, gpu=gpu, overrides=overrides_of(set_), note=progress.note)
    columns = ["window", "cycles", "requests", "after_l1", "after_l2", "after_l1_relative", "after_l2_relative"]
    _show(rows, columns, (plot, module.plot), as_json)


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
    _show(rows, columns, (plot, module.plot), as_json)


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
    _show(rows, columns, (None, None), as_json)


def _check(plot: Path | None) -> None:
    """Before the simulations: is there a place for the picture?"""
    if plot is not None:
        check_output(plot, "--plot", PICTURES)


def _show(rows: list[dict[str, Any]], columns: list[str], drawing: tuple[Path | None, Any], as_json: bool) -> None:
    path, draw = drawing
    if path is not None:
        draw(rows, path)
    if as_json:
        print_json(rows)
        return
    from warpsift.report.screen_tables import table_of

    cells = [[f"{row[c]:.4g}" if isinstance(row[c], float) else row[c] for c in columns] for row in rows]
    console().print(table_of("", columns, cells))
