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

    rows = [[name.replace("_", " "), _fact(value)] for name, value in facts.items()]
    console().print(table_of("", ["", ""], rows))


def _fact(value: Any) -> str:
    """A fact as a person reads it; `--json` has it in full."""
    from warpsift.report.screen_tables import thousands

    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_fact(each)}" for name, each in value.items())
    return thousands(value) if isinstance(value, int) else str(value)


class Listing(StrEnum):
    graphs = "graphs"
    algorithms = "algorithms"
    units = "units"
    machines = "machines"
    keys = "keys"
    readings = "readings"


@app.command("list", context_settings=CONTEXT)
def list_(what: Annotated[Listing, typer.Argument()], as_json: JsonOption = False) -> None:
    """List what there is: graphs (generators and stand-ins for the papers' graphs), algorithms,
    units, machines, keys (every number of a machine file that --set can change), readings (what the papers
    leave open, how each reading settles it, and the evidence).

    \b
    Examples:
      warpsift list graphs
      warpsift list readings
      warpsift list units
      warpsift list keys
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


def _keys() -> list[dict[str, Any]]:
    from warpsift.machines import Machine
    from warpsift.machines.ranges import declared
    from warpsift.machines.unit_sections import spec_types

    found = [*declared(Machine), *(key for name, kind in spec_types().items() for key in declared(kind, f"{name}."))]
    return [{"key": each.key, "unit": each.unit, "range": each.range, "why": each.reason} for each in found]


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
    Listing.keys: _keys,
    Listing.readings: _readings,
}
