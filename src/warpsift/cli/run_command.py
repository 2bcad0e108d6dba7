"""`warpsift run`: one algorithm on one graph, or a folder of kernel traces."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from warpsift.algorithms import ALGORITHMS, Options
from warpsift.cli.app import app, console, load_for, overrides_of, print_json
from warpsift.cli.declared_options import (
    GRAPH,
    JSON,
    AlgorithmGroup,
    Given,
    MachineChanges,
    Parameter,
    add_group,
    command,
    of_algorithm,
    parameters,
)
from warpsift.cli.run_extras import Extras, check_subject
from warpsift.run.request import Request, make_request

TRACE_HELP = "Instead of an algorithm: a folder of Accel-Sim kernel traces."
TRACE, HIDDEN_TRACE = (
    Parameter(
        "trace",
        Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, typer.Option("--trace", help=TRACE_HELP, hidden=hidden)],
    )
    for hidden in (False, True)
)
COMMON = [*parameters(Request), *parameters(MachineChanges), *parameters(Extras), JSON]
HELP = """Run an algorithm on a graph and check its answer, or time a trace.

\b
Each algorithm has options of its own: warpsift run bfs --help
\b
Examples:
  warpsift run bfs --graph delaunay-14
  warpsift run bfs --graph kron-16 --gpu gtx980 --set l2.size_bytes=4194304
  warpsift run sssp --graph roads.gr.gz --source 0 --json
  warpsift run pagerank --graph kron-12 --style vertex
  warpsift run bfs --graph kron-14 --gpu gtx980 --timeline bfs.pftrace --export-trace bfs-traces
  warpsift run --trace bfs-traces --gpu titanx
"""


class RunGroup(AlgorithmGroup):
    """`warpsift run ALGORITHM`."""

    def own_command(self, name: str) -> Any:
        chosen = ALGORITHMS[name]
        text = f"{chosen.title[0].upper()}{chosen.title[1:]} on a graph, checked. Styles: {', '.join(chosen.styles)}."
        own = [GRAPH, *of_algorithm(chosen.options), *COMMON, HIDDEN_TRACE]
        return command(name, lambda given: run_algorithm(name, given), own, text)


def run_algorithm(algorithm: str, given: Given) -> None:
    """Make the request, load the graph, run, print."""
    from warpsift.report.run_tables import print_run
    from warpsift.run.execute import run_request

    graph, as_json = given.pop("graph", None), given.pop("as_json")
    check_subject(algorithm, graph, given.pop("trace", None))
    extras = Extras.taken_from(given, f"{algorithm} on {graph}")
    overrides = overrides_of(given.pop("settings", None), given.pop("ideal", None))
    extras.check()
    interval = extras.sample_interval_cycles
    request = make_request(
        algorithm, graph, given | {"overrides": overrides, "sample_interval_cycles": interval}
    )  # wrong options are told before a graph is loaded
    loaded = load_for(graph, extras.title, **request.loading)
    with extras.observing() as observer:
        result = run_request(request, loaded, observer, extras.threads)
    extras.finish(result, observer)
    if as_json:
        print_json(result.as_dict())
    else:
        print_run(console(), result)
    if result.check == "fail":
        raise typer.Exit(1)


def run_without_algorithm(given: Given) -> None:
    """A folder of kernel traces is timed; anything else lacks an algorithm."""
    from warpsift.report.run_tables import print_trace
    from warpsift.traces.trace_timing import time_trace

    check_subject(None, given.get("graph"), given.get("trace"))
    trace: str = given["trace"]
    extras = Extras.taken_from(given, f"trace {trace}")
    overrides = overrides_of(given.get("settings"), given.get("ideal"))
    extras.check()
    interval = extras.sample_interval_cycles
    with extras.observing() as observer:
        result = time_trace(
            trace,
            extras.gpu,
            overrides=overrides,
            sample=given.get("sample", 0),
            sample_interval_cycles=interval,
            observer=observer,
            threads=extras.threads,
        )
    extras.finish(result, observer)
    if given["as_json"]:
        print_json(result.as_dict())
    else:
        print_trace(console(), result)


add_group(app, RunGroup, "run", run_without_algorithm, [TRACE, GRAPH, *parameters(Options), *COMMON], HELP)
