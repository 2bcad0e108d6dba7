"""`warpsift info` and `warpsift list`: what a graph is, and what there is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from warpsift.cli.app import (
    CONTEXT,
    DropLoops,
    JsonOption,
    Merge,
    Symmetrise,
    app,
    console,
    load_for,
    print_json,
)


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

    loading = {"symmetrise": symmetrise, "drop_self_loops": drop_self_loops, "merge_duplicates": merge_duplicates}
    facts = describe(load_for(graph, f"info {graph}", **loading))
    if as_json:
        print_json(facts)
        return
    from warpsift.report.screen_tables import table_of

    console().print(table_of("", ["", ""], [[k.replace("_", " "), v] for k, v in facts.items()]))


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
    from warpsift.report.screen_tables import table_of

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
        print_json(rows)
        return
    columns = list(rows[0])
    console().print(table_of("", columns, [["" if row[c] is None else row[c] for c in columns] for row in rows]))
