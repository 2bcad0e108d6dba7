"""`warpsift info` and `warpsift list`: what a graph is, and what there is."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from warpsift.cli.app import (
    CONTEXT,
    DropLoops,
    GraphFormat,
    GraphSeed,
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
    graph_seed: GraphSeed = 1,
    graph_format: GraphFormat = None,
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
    facts = describe(load_for(graph, f"info {graph}", seed=graph_seed, format=graph_format, **loading))
    if as_json:
        print_json(facts)
        return
    from warpsift.report.screen_tables import table_of

    console().print(table_of("", ["", ""], [[k.replace("_", " "), v] for k, v in facts.items()]))


class Listing(StrEnum):
    graphs = "graphs"
    algorithms = "algorithms"
    units = "units"
    machines = "machines"
    readings = "readings"


@app.command("list", context_settings=CONTEXT)
def list_(what: Annotated[Listing, typer.Argument()], as_json: JsonOption = False) -> None:
    """List what there is: graphs (generators and stand-ins for the papers' graphs), algorithms,
    units, machines, readings (what the papers leave open, how each reading settles it, and the evidence).

    \b
    Examples:
      warpsift list graphs
      warpsift list readings
      warpsift list units
    """
    from warpsift.report.screen_tables import table_of

    rows = LISTED[what]()
    if as_json:
        print_json(rows)
        return
    columns = list(rows[0])
    console().print(table_of("", columns, [["" if row[c] is None else row[c] for c in columns] for row in rows]))


def _graphs() -> list[dict[str, Any]]:
    from warpsift.graph import list_graphs

    return list_graphs()


def _machines() -> list[dict[str, Any]]:
    from warpsift.machines import load_machine, machine_names

    return [{"name": name, "description": load_machine(name).description} for name in machine_names()]


def _algorithms() -> list[dict[str, Any]]:
    from warpsift.algorithms import ALGORITHMS

    return [{"name": a.name, "what": a.title, "styles": ", ".join(a.styles)} for a in ALGORITHMS.values()]


def _units() -> list[dict[str, Any]]:
    from warpsift.units import units

    return [
        {
            "name": unit.name,
            "what": unit.title,
            "style": unit.style,
            "place": unit.place.value,
            "algorithms": ", ".join(unit.drivers(None)),
        }
        for unit in units().values()
    ]


def _readings() -> list[dict[str, Any]]:
    from warpsift.run.reading import listing

    return list(listing())


LISTED: dict[Listing, Callable[[], list[dict[str, Any]]]] = {
    Listing.graphs: _graphs,
    Listing.algorithms: _algorithms,
    Listing.units: _units,
    Listing.machines: _machines,
    Listing.readings: _readings,
}
