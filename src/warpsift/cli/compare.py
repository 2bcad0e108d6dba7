"""`warpsift compare`: units side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warpsift.cli.app import (
    CONTEXT,
    BitSetting,
    DropLoops,
    GraphFormat,
    GraphOption,
    GraphSeed,
    JsonOption,
    Merge,
    Occupancy,
    SetOption,
    Symmetrise,
    TargetWords,
    app,
    console,
    load_for,
    overrides_of,
    print_json,
)
from warpsift.paths import check_output
from warpsift.report.pictures import PICTURES


@app.command(context_settings=CONTEXT)
def compare(
    algorithm: Annotated[str, typer.Argument(help="bfs, sssp, pagerank or wcc")],
    graph: GraphOption,
    gpu: Annotated[str, typer.Option(help="The machine to time on (see 'warpsift list machines').")],
    units: Annotated[str, typer.Option(help="Separated by commas: none, scu-basic, scu, mff.")] = "none,scu-basic,scu",
    set_: SetOption = None,
    source: Annotated[int | None, typer.Option(help="Start node; default: seeded.")] = None,
    seed: Annotated[int, typer.Option()] = 1,
    max_iterations: Annotated[int | None, typer.Option(help="Stop early, such as after 2 of PageRank.")] = None,
    bit_setting: BitSetting = "atomic",
    occupancy: Occupancy = "full",
    target_words: TargetWords = 32,
    plot: Annotated[Path | None, typer.Option(help="Draw bars of time and energy: a .png, .svg or .pdf file.")] = None,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="What halving and doubling each energy price does to the saving.")
    ] = False,
    symmetrise: Symmetrise = False,
    drop_self_loops: DropLoops = False,
    merge_duplicates: Merge = False,
    graph_seed: GraphSeed = 1,
    graph_format: GraphFormat = None,
    as_json: JsonOption = False,
) -> None:
    """Run an algorithm with and without special units and print them side by side.

    \b
    Examples:
      warpsift compare sssp --graph kron-16 --gpu tx1 --units none,scu-basic,scu
      warpsift compare pagerank --graph dblp-2010@1/8 --gpu gtx480 --units none,mff --max-iterations 2
      warpsift compare pagerank --graph dblp-2010@1/8 --gpu gtx480 --units none,mff --occupancy target
      warpsift compare bfs --graph delaunay-16 --gpu gtx980 --plot bars.png
      warpsift compare bfs --graph kron-14 --gpu tx1 --sensitivity --set costs.gpu_idle=power_gate
    """
    if plot is not None:
        check_output(plot, "--plot", PICTURES)
    from warpsift.api import Observer
    from warpsift.compare import compare as run_all
    from warpsift.report.progress import Progress

    loading = {"symmetrise": symmetrise, "drop_self_loops": drop_self_loops, "merge_duplicates": merge_duplicates}
    loaded = load_for(graph, f"{algorithm} on {graph}", seed=graph_seed, format=graph_format, **loading)
    with Progress(f"{algorithm} on {graph}") as progress:
        observer = Observer(lambda phase, launch: progress.note(f"launch {launch} ({phase})"), None, progress.cycles)
        choices: dict[str, Any] = {
            "gpu": gpu,
            "overrides": overrides_of(set_),
            "source": source,
            "seed": seed,
            "max_iterations": max_iterations,
            "bit_setting": bit_setting,
            "occupancy": occupancy,
            "target_words": target_words,
        }
        names = [name.strip() for name in units.split(",") if name.strip()]
        comparison = run_all(algorithm, loaded, names, observer=observer, **choices)
    if plot is not None:
        from warpsift.report.bars import draw

        draw(comparison, plot)
    if as_json:
        print_json(comparison.as_dict(sensitivity))
    else:
        from warpsift.report.energy_tables import print_sensitivity
        from warpsift.report.tables import print_comparison

        print_comparison(console(), comparison)
        if sensitivity:
            print_sensitivity(console(), comparison)
    if any(entry.result.check == "fail" for entry in comparison.entries):
        raise typer.Exit(1)
