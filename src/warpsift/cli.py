"""The command line: a thin layer over `warpsift.api`.

Exit codes: 0 fine, 1 the answer failed its check, 2 the request was wrong, 130 interrupted.
"""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from warpsift.errors import WarpsiftError

app = typer.Typer(
    help="A design lab for graph processing on GPUs with special hardware units.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
CONTEXT = {"help_option_names": ["-h", "--help"]}

GraphOption = Annotated[
    str, typer.Option("--graph", "-g", help="A file, or a name such as delaunay-14 (see 'warpsift list graphs').")
]
GpuOption = Annotated[str | None, typer.Option("--gpu", help="Time it on this machine (see 'warpsift list machines').")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a machine parameter: l2.size_bytes=4194304; may be given again."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Symmetrise = Annotated[bool, typer.Option("--symmetrise", help="Add the reverse of every arc.")]
DropLoops = Annotated[bool, typer.Option("--drop-self-loops")]
Merge = Annotated[bool, typer.Option("--merge-duplicates", help="Keep one of several equal arcs.")]


class Style(StrEnum):
    frontier = "frontier"
    vertex = "vertex"


def _console():
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=120)


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    """NumPy scalars and other small things as JSON."""
    return value.item() if hasattr(value, "item") else str(value)


def _overrides(settings: list[str] | None, ideal: list[str] | None = None) -> dict[str, Any]:
    """--set a.b=c and --ideal part, as a dictionary."""
    from warpsift.request import RequestError

    overrides: dict[str, Any] = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise RequestError(f"--set {setting}: write --set KEY=VALUE, such as --set l2.size_bytes=4194304")
        overrides[key.strip()] = value.strip()
    for part in ideal or []:
        if part not in ("l2", "dram", "noc"):
            raise RequestError(f"--ideal {part}: the parts that can be ideal are l2, dram and noc")
        overrides[f"ideal.{part}"] = "true"
    return overrides


def _load(graph: str, title: str, symmetrise: bool, loops: bool, merge: bool):
    from warpsift.graph import load_graph
    from warpsift.report.progress import Progress

    with Progress(title) as progress:
        progress.note(f"loading {graph}")
        return load_graph(graph, symmetrise=symmetrise, drop_self_loops=loops, merge_duplicates=merge)


@app.command(context_settings=CONTEXT)
def run(
    algorithm: Annotated[str, typer.Argument(help="bfs, sssp, pagerank or wcc")],
    graph: GraphOption,
    style: Annotated[
        Style, typer.Option(help="The SCU paper's frontiers or the MFF paper's vertices.")
    ] = Style.frontier,
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

    loaded = _load(graph, f"{algorithm} on {graph}", symmetrise, drop_self_loops, merge_duplicates)
    with Progress(f"{algorithm} on {graph}") as progress:
        observer = Observer(
            lambda phase, launch: progress.note(f"launch {launch} ({phase})"), progress.share, progress.cycles
        )
        result = simulate(
            algorithm,
            loaded,
            observer=observer,
            style=style.value,
            gpu=gpu,
            overrides=_overrides(set_, ideal),
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
        _print_json(result.as_dict())
    else:
        print_run(_console(), result)
    if result.check == "fail":
        raise typer.Exit(1)


@app.command(context_settings=CONTEXT)
def info(
    graph: Annotated[str, typer.Argument(help="A file or a name.")],
    symmetrise: Symmetrise = False,
    drop_self_loops: DropLoops = False,
    merge_duplicates: Merge = False,
    as_json: JsonOption = False,
) -> None:
    """Show nodes, edges, degrees, weights, components and the format found.

    \b
    Examples:
      warpsift info wave.graph.bz2
      warpsift info kron-16 --json
    """
    from warpsift.graph import describe

    facts = describe(_load(graph, f"info {graph}", symmetrise, drop_self_loops, merge_duplicates))
    if as_json:
        _print_json(facts)
        return
    from warpsift.report.tables import table_of

    _console().print(table_of("", ["", ""], [[k.replace("_", " "), v] for k, v in facts.items()]))


class Listing(StrEnum):
    graphs = "graphs"
    algorithms = "algorithms"
    machines = "machines"


@app.command("list", context_settings=CONTEXT)
def list_(what: Annotated[Listing, typer.Argument()], as_json: JsonOption = False) -> None:
    """List what there is: graphs (generators and stand-ins for the papers' graphs), algorithms,
    machines.

    \b
    Example:
      warpsift list graphs
    """
    from warpsift.report.tables import table_of

    if what is Listing.graphs:
        from warpsift.graph import list_graphs

        rows = list_graphs()
    elif what is Listing.machines:
        from warpsift.machines import load_machine, machine_names

        rows = [{"name": name, "description": load_machine(name).description} for name in machine_names()]
    else:
        from warpsift.algorithms import ALGORITHMS

        rows = [{"name": a.name, "what": a.title, "styles": ", ".join(a.styles)} for a in ALGORITHMS.values()]
    if as_json:
        _print_json(rows)
        return
    columns = list(rows[0])
    _console().print(table_of("", columns, [["" if row[c] is None else row[c] for c in columns] for row in rows]))


INTERRUPTED = 130


def main() -> None:
    """Entry point: errors that a user can cause become one line and exit code 2."""
    code: str | int | None = 0
    try:
        app()
    except WarpsiftError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 2
    except SystemExit as done:  # how Typer ends, after an interruption too
        code = done.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone: | head
        pass
    if code == INTERRUPTED:
        sys.stderr.write("interrupted; nothing was written\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
