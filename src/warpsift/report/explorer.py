"""The explorer: stored runs as one page that filters them and shows two side by side. `warpsift explore` writes it.

The page needs no server and no network. Each run is a small dictionary (`card`); the page's script draws the time by
phase, the stall stack, the traffic by array, the energy by part and the timeline of launches from it. As in reports,
names from files reach the page as JSON and as text, never as HTML, and a content security policy allows its own
script alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from warpsift.algorithms import ALGORITHMS
from warpsift.report.charts import PALETTE
from warpsift.report.energy_tables import grouped
from warpsift.report.html import ReportError, _asset, _json
from warpsift.report.html_parts import text
from warpsift.store.store import Record

Card = dict[str, Any]
_NUMBERS = (
    "cycles", "microseconds", "mteps", "instructions_per_cycle", "l1_hit_rate", "l2_hit_rate", "dram_row_hit_rate",
    "bandwidth_utilisation", "dram_bytes", "mean_load_latency_cycles", "power_watts", "warp_instructions",
    "transactions", "iterations", "nodes_reached", "edges_reached",
)  # fmt: skip
_USUAL = {f.name: f.default for algorithm in ALGORITHMS.values() for f in fields(algorithm.options)}
_NOT_CHANGED = ("source", "seed")  # chosen for the run, not by the user; the seed is shown where it is not 1


def card(result: Mapping[str, Any], request: Mapping[str, Any] | None = None) -> Card:
    """What the page needs to know of a run. `request` is known of stored runs, not of single JSON results."""
    asked = request or {}
    graph = result["graph"]
    machine = result.get("machine") or {}
    joules = grouped(result.get("energy_by_component") or {})
    return {
        "algorithm": str(result["algorithm"]),
        "graph": str(graph["name"]),
        "nodes": graph.get("nodes"),
        "edges": graph.get("edges"),
        "style": str(result.get("style", "")),
        "unit": str(result.get("unit", "none")),
        "gpu": str(asked.get("gpu") or machine.get("name") or "not timed"),
        "changed": _changed(result.get("options") or {}, asked),
        "check": str(result.get("check", "")),
        "command": _command(asked),
        "warning": str((result.get("notes") or {}).get("warning", "")),
        "numbers": {name: result[name] for name in _NUMBERS if result.get(name) is not None},
        "phases": [_phase(phase) for phase in result["phases"]],
        "stalls": result.get("stall_stack"),
        "arrays": result.get("array_traffic") or None,
        "joules": joules or None,
        "energy": result.get("energy_joules"),
        "timeline": result.get("timeline") or None,
    }


def _phase(phase: Mapping[str, Any]) -> dict[str, Any]:
    unit = f"{phase['unit']}: " if phase.get("unit") else ""
    return {
        "name": f"{unit}{phase['phase']}",
        "compaction": bool(phase.get("compaction")),
        "launches": phase.get("launches"),
        "microseconds": phase.get("microseconds"),
        "instructions": phase.get("warp_instructions"),
    }


def _changed(options: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, str]:
    """What tells runs of the same algorithm, graph, GPU and unit apart."""
    found = {key: str(value) for key, value in (asked.get("overrides") or {}).items()}
    given = asked.get("options") or options
    for name, value in given.items():
        if name not in _NOT_CHANGED and value is not None and value != _USUAL.get(name):
            found[name] = str(value)
    if options.get("seed", 1) != 1:
        found["seed"] = str(options["seed"])
    if (asked.get("options") or {}).get("source") is not None:
        found["source"] = str(asked["options"]["source"])
    return found


def _command(asked: Mapping[str, Any]) -> str:
    from warpsift.report.provenance import command_of

    return command_of(asked) if asked else ""


def cards_of_records(records: Iterable[Record]) -> list[Card]:
    """Cards of the finished runs of a store."""
    done = [record for record in records if record.status == "done" and record.result is not None]
    return in_order(card({**(r.result or {}), "machine": r.machine, "graph": r.graph}, r.request) for r in done)


def in_order(cards: Iterable[Card]) -> list[Card]:
    """Runs that one wants to compare stand beside each other."""
    return sorted(
        cards, key=lambda c: (c["algorithm"], c["graph"], c["gpu"], c["style"], c["unit"] != "none", c["unit"])
    )


def cards_of_folder(folder: Path) -> list[Card]:
    """Cards of all results in a folder, as `warpsift run --json` writes them: one or a list in every .json file."""
    found: list[Card] = []
    for path in sorted(folder.rglob("*.json")):
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise ReportError(f"{path}: cannot be read as JSON: {error}") from error
        for each in held if isinstance(held, list) else [held]:
            if isinstance(each, dict) and {"algorithm", "graph", "phases"} <= each.keys():
                found.append(_card_of_file(path, each))
    return in_order(found)


def _card_of_file(path: Path, result: Mapping[str, Any]) -> Card:
    try:
        return card(result)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{path}: not a result of 'warpsift run --json': {error!r} is wrong or missing") from error


def explorer_page(cards: Sequence[Card], title: str) -> str:
    """The page as HTML."""
    script, style = _asset("explorer.js"), _asset("report.css") + _asset("explorer.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{text(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header class="top"><h1>{text(title)}</h1>
<p class="subtitle">Choose runs by what they ran, then mark two of them, A and B, to see them side by side.</p></header>
<div class="toolbar"><form id="choose"></form></div>
<main class="explorer">
<section class="figure" id="runs">
<div class="scroll runs"><table class="data"><thead></thead><tbody></tbody></table></div>
<p class="empty" id="more"></p></section>
<section class="figure" id="sides"></section>
</main>
<script type="application/json" id="explorer-data">{_json({"palette": PALETTE, "runs": list(cards)})}</script>
<script>{script}</script>
</body>
</html>
"""


def write_explorer(path: Path, cards: Sequence[Card], title: str) -> Path:
    """Write the page, complete or not at all."""
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(explorer_page(cards, title), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror or error}") from error
    return path
