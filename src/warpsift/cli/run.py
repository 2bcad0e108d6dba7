"""`warpsift run`: one algorithm on one graph."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from warpsift.cli.app import (
    CONTEXT,
    DropLoops,
    GpuOption,
    GraphOption,
    JsonOption,
    Merge,
    SetOption,
    Symmetrise,
    app,
    console,
    load_for,
    overrides_of,
    print_json,
)


class Style(StrEnum):
    frontier = "frontier"
    vertex = "vertex"


@app.command(context_settings=CONTEXT)
def run(
    algorithm: Annotated[str, typer.Argument(help="bfs, sssp, pagerank or wcc")],
    graph: GraphOption,
    style: Annotated[
        Style | None, typer.Option(help="The SCU paper's frontiers (default) or the MFF paper's vertices.")
    ] = None,
    unit: Annotated[str, typer.Option(help="none, scu, scu-basic or mff.")] = "none",
    gpu: GpuOption = None,
    set_: SetOption = None,
    ideal: Annotated[
        list[str] | None, typer.Option(help="Make a part ideal: l2, dram or noc; may be given again.")
    ] = None,
    source: Annotated[int | None, typer.Option(help="Start node; default: seeded, in the largest component.")] = None,
    seed: Annotated[int, typer.Option(help="For the source, random weights and the order of races.")] = 1,
    max_iterations: Annotated[int | None, typer.Option()] = None,
    random_weights: Annotated[bool, typer.Option(help="SSSP: seeded weights 1 to 64 instead of the graph's.")] = False,
    delta: Annotated[float | None, typer.Option(help="SSSP: step of the near-far threshold.")] = None,
    damping: Annotated[float, typer.Option(help="PageRank: alpha.")] = 0.15,
    epsilon: Annotated[float, typer.Option(help="PageRank: largest change at the end, of the mean rank.")] = 1e-6,
    split_kernels: Annotated[bool, typer.Option(help="BFS: compaction as a launch of its own.")] = False,
    warp_culling: Annotated[bool, typer.Option(help="BFS: drop duplicates inside a warp.")] = True,
    history_culling: Annotated[bool, typer.Option(help="BFS: drop recently seen nodes.")] = True,
    active: Annotated[str, typer.Option(help="Vertex style: 'compact' or 'all'.")] = "compact",
    bit_setting: Annotated[str, typer.Option(help="Vertex style: 'atomic' or 'byte'.")] = "atomic",
    visibility_ctas: Annotated[
        int | None, typer.Option(help="CTAs that do not see each other's writes; 0: a whole wave.")
    ] = None,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Compare with an independent answer.")] = True,
    symmetrise: Symmetrise = False,
    drop_self_loops: DropLoops = False,
    merge_duplicates: Merge = False,
    as_json: JsonOption = False,
) -> None:
    """Run an algorithm on a graph and check its answer.

    \b
    Examples:
      warpsift run bfs --graph delaunay-14
      warpsift run bfs --graph kron-16 --gpu gtx980 --set l2.size_bytes=4194304
      warpsift run sssp --graph roads.gr.gz --source 0 --json
      warpsift run pagerank --graph kron-12 --style vertex
    """
    from warpsift.api import Observer, simulate
    from warpsift.report.progress import Progress
    from warpsift.report.tables import print_run

    loaded = load_for(graph, f"{algorithm} on {graph}", symmetrise, drop_self_loops, merge_duplicates)
    with Progress(f"{algorithm} on {graph}") as progress:
        observer = Observer(
            lambda phase, launch: progress.note(f"launch {launch} ({phase})"), progress.share, progress.cycles
        )
        result = simulate(
            algorithm,
            loaded,
            observer=observer,
            **({"style": style.value} if style else {}),
            unit=unit,
            gpu=gpu,
            overrides=overrides_of(set_, ideal),
            check=check,
            visibility_ctas=visibility_ctas,
            source=source,
            seed=seed,
            max_iterations=max_iterations,
            random_weights=random_weights,
            delta=delta,
            damping=damping,
            epsilon=epsilon,
            split_kernels=split_kernels,
            warp_culling=warp_culling,
            history_culling=history_culling,
            active=active,
            bit_setting=bit_setting,
        )
    if as_json:
        print_json(result.as_dict())
    else:
        print_run(console(), result)
    if result.check == "fail":
        raise typer.Exit(1)
