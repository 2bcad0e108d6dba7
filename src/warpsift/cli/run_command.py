"""`warpsift run`: one algorithm on one graph."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from warpsift.cli.app import (
    CONTEXT,
    BitSetting,
    DropLoops,
    GpuOption,
    GraphFormat,
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
from warpsift.cli.run_extras import (
    ALGORITHM_HELP,
    ExportOption,
    Extras,
    OptionalGraph,
    TimelineOption,
    TraceOption,
    check_subject,
)


@app.command(context_settings=CONTEXT)
def run(
    algorithm: Annotated[str | None, typer.Argument(help=ALGORITHM_HELP)] = None,
    graph: OptionalGraph = None,
    trace: TraceOption = None,
    style: Annotated[
        str | None,
        typer.Option(help="How it is written for a GPU (see 'warpsift list algorithms'; default: the first)."),
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
    bit_setting: BitSetting = "atomic",
    occupancy: Occupancy = "full",
    target_words: TargetWords = 32,
    checked_activation: Annotated[
        bool, typer.Option("--checked-activation", help="BFS, vertex style: wake only nodes not visited (no unit).")
    ] = False,
    visibility_ctas: Annotated[
        int | None, typer.Option(help="CTAs that do not see each other's writes; 0: a whole wave.")
    ] = None,
    timeline: TimelineOption = None,
    export_trace: ExportOption = None,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Compare with an independent answer.")] = True,
    symmetrise: Symmetrise = False,
    drop_self_loops: DropLoops = False,
    merge_duplicates: Merge = False,
    graph_seed: GraphSeed = 1,
    graph_format: GraphFormat = None,
    as_json: JsonOption = False,
) -> None:
    """Run an algorithm on a graph and check its answer, or time a trace.

    \b
    Examples:
      warpsift run bfs --graph delaunay-14
      warpsift run bfs --graph kron-16 --gpu gtx980 --set l2.size_bytes=4194304
      warpsift run sssp --graph roads.gr.gz --source 0 --json
      warpsift run pagerank --graph kron-12 --style vertex
      warpsift run bfs --graph kron-14 --gpu gtx980 --timeline bfs.pftrace --export-trace bfs-traces
      warpsift run --trace bfs-traces --gpu titanx
    """
    check_subject(algorithm, graph, trace)
    overrides = overrides_of(set_, ideal)
    if trace is not None:
        run_trace(trace, Extras(f"trace {trace}", gpu, timeline, export_trace), overrides, as_json)
        return
    assert algorithm is not None and graph is not None
    from warpsift.report.run_tables import print_run
    from warpsift.run.execute import simulate

    extras = Extras(f"{algorithm} on {graph}", gpu, timeline, export_trace)
    interval = extras.sample_interval_cycles
    loading = {"symmetrise": symmetrise, "drop_self_loops": drop_self_loops, "merge_duplicates": merge_duplicates}
    loaded = load_for(graph, extras.title, seed=graph_seed, format=graph_format, **loading)
    with extras.observing() as observer:
        result = simulate(
            algorithm,
            loaded,
            observer=observer,
            **({"style": style} if style else {}),
            unit=unit,
            gpu=gpu,
            overrides=overrides,
            sample_interval_cycles=interval,
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
            occupancy=occupancy,
            target_words=target_words,
            checked_activation=checked_activation,
        )
    extras.finish(result, observer)
    if as_json:
        print_json(result.as_dict())
    else:
        print_run(console(), result)
    if result.check == "fail":
        raise typer.Exit(1)


def run_trace(trace: str, extras: Extras, overrides: dict[str, Any], as_json: bool) -> None:
    """Time a folder of kernel traces."""
    from warpsift.report.run_tables import print_trace
    from warpsift.traces.trace_timing import time_trace

    interval = extras.sample_interval_cycles
    with extras.observing() as observer:
        result = time_trace(trace, extras.gpu, overrides=overrides, sample_interval_cycles=interval, observer=observer)
    extras.finish(result, observer)
    if as_json:
        print_json(result.as_dict())
    else:
        print_trace(console(), result)
