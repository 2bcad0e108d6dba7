"""From requests to points: each with the key under which its result is kept.

The key is a hash of the request, the graph's content, the machine with every parameter resolved, and the version
of the sources: two requests that mean the same run (a parameter set to its default, say) share one result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from warpsift.errors import WarpsiftError
from warpsift.run.record import graph_facts as run_facts
from warpsift.run.request import LOADING, Request
from warpsift.store.canonical_json import digest, to_json
from warpsift.store.rows import parse_value


@dataclass(frozen=True)
class Point:
    """One run of a sweep, before it is run."""

    key: str
    request: Request
    graph: dict[str, Any]  # name, nodes, edges, stand_in_for, content_hash
    machine: dict[str, Any] | None
    version: str
    package: str
    problem: str | None = None  # why it cannot run: an impossible machine

    def as_columns(self) -> tuple[str, str, str, str, str | None]:
        """version, package, request, graph, machine as the ledger holds them."""
        machine = None if self.machine is None else to_json(self.machine)
        return self.version, self.package, to_json(self.request.as_dict()), to_json(self.graph), machine


def plan(
    requests: Iterable[Request],
    note: Callable[[str], None] | None = None,
    graphs: dict[str, dict[str, Any]] | None = None,
) -> list[Point]:
    """The points of a sweep, without repetition; points of one graph lie together, so that it is loaded once.

    Loads every graph to know its content; `note` hears which. `graphs` keeps what was read for the next plan.
    """
    from warpsift.store.source_version import source_version
    from warpsift.version import __version__

    version = source_version()
    wanted = list(requests)
    graphs = {} if graphs is None else graphs
    for request in wanted:
        name = graph_key(request)
        if name not in graphs:
            if note is not None:
                note(f"reading {request.graph}")
            graphs[name] = graph_facts(request)
    order = {name: number for number, name in enumerate(graphs)}
    machines: dict[str, tuple[dict[str, Any] | None, str | None]] = {}
    points: dict[str, Point] = {}
    for request in sorted(wanted, key=lambda r: order[graph_key(r)]):
        text = to_json([request.gpu, dict(request.overrides)])
        if text not in machines:
            machines[text] = _machine(request)
        graph = graphs[graph_key(request)]
        blank = Point("", request, graph, machines[text][0], version, __version__, machines[text][1])
        point = replace(blank, key=_key(blank))
        points.setdefault(point.key, point)
    return list(points.values())


def graph_key(request: Request) -> str:
    """Which graph a request means: its name and how it is loaded."""
    return to_json([request.graph, request.loading])


def graph_facts(request: Request) -> dict[str, Any]:
    """What a report and a key need to know of a graph."""
    graph = request.load()
    return {**run_facts(graph), "generated": graph.provenance.get("format") == "generated"}


def _machine(request: Request) -> tuple[dict[str, Any] | None, str | None]:
    """All parameters of the machine, or why there is no such machine."""
    if request.gpu is None:
        return None, None
    from warpsift.machines import machine_parameters
    from warpsift.run.set_up import machine_of

    try:
        machine = machine_of(request)
        assert machine is not None
        return machine_parameters(machine), None
    except WarpsiftError as error:
        return None, str(error)


def _key(point: Point) -> str:
    said = point.request.as_dict()
    if point.machine is not None:  # stands for the GPU's name and what was changed of it, resolved
        del said["gpu"]
        others = {key: parse_value(str(v)) for key, v in said["overrides"].items() if key not in point.machine}
        said["overrides"] = others  # cost coefficients
    # The name as written does not matter, nor how it was loaded: the content is in the key. The graph's own name stays,
    # since a record says what it ran on.
    for name in ("graph", *LOADING):
        said.pop(name)
    inputs = {"request": said, "graph": point.graph, "machine": point.machine}
    return digest(inputs | {"version": point.version, "package": point.package})
