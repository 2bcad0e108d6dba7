"""Where numbers come from: graphs real or generated, machines with all their parameters, versions, and commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from typing import Any

from warpsift.algorithms.options import declaration_of, flags_of
from warpsift.report.figures import Provenance
from warpsift.run.request import DECLARED_FIELDS, Request, algorithm_named, options_type
from warpsift.store.store import Record
from warpsift.units import resolve


def origin(graph: Mapping[str, Any]) -> str:
    """Whether a graph is the real one."""
    if graph.get("stand_in_for"):
        return f"stand-in for {graph['stand_in_for']}"
    return "generated" if graph.get("generated") else "file"


def provenance_of(records: Iterable[Record]) -> Provenance:
    """What a page says about the runs that it was made of."""
    from warpsift.store.source_version import versions

    runs = list(records)
    graphs: dict[str, dict[str, Any]] = {}
    machines: dict[str, dict[str, Any]] = {}
    variants: dict[str, set[str]] = {}
    for record in runs:
        g = record.graph
        graphs[g["content_hash"] + g["name"]] = {
            "graph": g["name"],
            "origin": origin(g),
            "nodes": g["nodes"],
            "arcs": g["edges"],
            "content": g["content_hash"][:12],
        }
        if record.machine is not None:
            name = str(record.machine["name"])
            base = machines.setdefault(name, dict(record.machine))
            for key, value in record.machine.items():
                if base.get(key) != value:
                    variants.setdefault(f"{name} {key}", {str(base.get(key))}).add(str(value))
    for place, values in variants.items():  # a parameter that the runs vary shows all its values
        name, _, key = place.rpartition(" ")
        machines[name][key] = "varied: " + ", ".join(sorted(values, key=lambda v: (len(v), v)))
    failures = [
        {"run": f"{r.request['algorithm']} on {r.graph['name']}", "error": r.error}
        for r in runs
        if r.status == "failed"
    ]
    about = versions()
    if runs:  # made by these, whatever is installed where the page is written
        about["warpsift"] = ", ".join(sorted({record.package for record in runs}))
        about["sources"] = ", ".join(sorted({record.version for record in runs}))
    return Provenance(list(graphs.values()), machines, about, len(runs), failures)


def command_of(request: Request | Mapping[str, Any]) -> str:
    """The command line that runs a request again."""
    asked = request.as_dict() if isinstance(request, Request) else dict(request)
    words = ["warpsift", "run", asked["algorithm"], "--graph", asked["graph"]]
    if asked.get("gpu"):
        words += ["--gpu", asked["gpu"]]
    for key, value in asked["overrides"].items():
        words += ["--set", f"{key}={_toml(value)}"]
    options = options_type(algorithm_named(asked["algorithm"]), resolve(asked.get("unit", "none")))
    words += _changed(fields(options), asked["options"])
    words += _changed([f for f in DECLARED_FIELDS if f.name != "gpu"], asked)
    return shlex.join(words)


def _changed(declared: Iterable[Field[Any]], asked: Mapping[str, Any]) -> list[str]:
    """The flags of what differs from its default."""
    words = []
    for each in declared:
        value = asked.get(each.name, each.default)
        if value == each.default or not declaration_of(each).on_command_line:
            continue
        on, off = flags_of(each)
        words += [on if value else off] if isinstance(value, bool) else [on, str(value)]
    return words


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
