"""Where numbers come from: graphs real or generated, machines with all their parameters, versions, and commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from warpsift.algorithms import Options
from warpsift.report.figures import Provenance
from warpsift.request import LOADING, Request
from warpsift.results.store import Record

_USUAL = {f.name: f.default for f in fields(Request)}


def origin(graph: Mapping[str, Any]) -> str:
    """Whether a graph is the real one."""
    if graph.get("stand_in_for"):
        return f"stand-in for {graph['stand_in_for']}"
    return "generated" if graph.get("generated") else "file"


def provenance_of(records: Iterable[Record]) -> Provenance:
    """What a page says about the runs that it was made of."""
    from warpsift.sweep.version import versions

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
    """The command line that runs a request again, or the Python line where the command line lacks an option."""
    asked = request.as_dict() if isinstance(request, Request) else dict(request)
    changed = {name: asked["options"][name] for name in _changed(asked["options"])}
    for name in ("style", "unit", "check", "visibility_ctas", *LOADING):
        usual = _USUAL[name]
        if asked.get(name, usual) != usual:
            changed[name] = asked[name]
    known = _flags()
    if any(name not in known for name in changed):
        return _python(asked, changed)
    words = ["warpsift", "run", asked["algorithm"], "--graph", asked["graph"]]
    if asked.get("gpu"):
        words += ["--gpu", asked["gpu"]]
    for key, value in asked["overrides"].items():
        words += ["--set", f"{key}={_toml(value)}"]
    for name, value in changed.items():
        on, off = known[name]
        if isinstance(value, bool):
            words.append(on if value else off or on)
        else:
            words += [on, str(value)]
    return shlex.join(words)


def _changed(options: Mapping[str, Any]) -> list[str]:
    usual = Options()
    return [f.name for f in fields(Options) if f.name in options and options[f.name] != getattr(usual, f.name)]


def _flags() -> dict[str, tuple[str, str | None]]:
    """The options of `warpsift run`: how each is switched on and off."""
    import typer.main

    from warpsift.cli import application

    command: Any = typer.main.get_command(application())
    found = {}
    for option in command.commands["run"].params:
        if option.opts and option.opts[0].startswith("--"):
            off = option.secondary_opts[0] if option.secondary_opts else None
            found[option.name] = (option.opts[0], off)
    return found


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _python(asked: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    given = {name: asked[name] for name in ("gpu", "overrides") if asked.get(name)}
    words = "".join(f", {name}={value!r}" for name, value in {**given, **changed}.items())
    line = f"import warpsift; print(warpsift.simulate({asked['algorithm']!r}, {asked['graph']!r}{words}).as_dict())"
    return shlex.join(["python", "-c", line])
