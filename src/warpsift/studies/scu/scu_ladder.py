"""The ladder: which modelling choice moves the SCU's speedup by how much, one at a time.

Each rung changes one thing that the paper leaves open or that bounds the unit; the two last are ideal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpsift.report.figures import COMMAND, Chart, Figure
from warpsift.report.provenance import command_of
from warpsift.run.request import Request
from warpsift.studies.scale import Scale
from warpsift.studies.scu.scu_runs import GPUS, request, result
from warpsift.sweep import Results

GRAPHS = ("cond",)
ALGORITHMS = ("bfs", "sssp")
LINES = {"l1.fill_bytes": "128", "l2.fill_bytes": "128"}
# rung -> (changes to both systems, changes to the machine with the unit only)
RUNGS: dict[str, tuple[Mapping[str, Any], Mapping[str, str]]] = {
    "as modelled": ({}, {}),
    "every CTA sees all writes": ({"visibility_ctas": 1}, {}),
    "a wave sees no writes": ({"visibility_ctas": 0}, {}),
    "whole lines are filled": ({"overrides": LINES}, {}),
    "64 requests in flight": ({}, {"scu.inflight_requests": "64"}),
    "128 requests in flight": ({}, {"scu.inflight_requests": "128"}),
    "32 probes in flight": ({}, {"scu.probe_limit": "32"}),
    "filter cleared per operation": ({}, {"scu.expansion_life": "clear"}),
    "5 us per launch": ({"overrides": {"launch.overhead_cycles": "5000"}}, {}),
    "ideal: unlimited in flight": ({}, {"scu.inflight_requests": "0", "scu.probe_limit": "-1"}),
    "ideal: hash without latency": ({}, {"scu.ideal_hash": "true"}),
}


def _pair(algorithm: str, graph: str, gpu: str, rung: str, scale: Scale) -> tuple[Request, Request]:
    both, unit_only = RUNGS[rung]
    changes = dict(both)
    shared = dict(changes.pop("overrides", {}))
    seed = scale.seeds[0]
    plain = request(algorithm, graph, gpu, "none", scale, seed=seed, overrides=shared, **changes)
    unit = request(algorithm, graph, gpu, "scu", scale, seed=seed, overrides={**shared, **unit_only}, **changes)
    return plain, unit


def matrix(scale: Scale) -> list[Request]:
    return [
        r
        for gpu in GPUS
        for algorithm in ALGORITHMS
        for graph in GRAPHS
        for rung in RUNGS
        for r in _pair(algorithm, graph, gpu, rung, scale)
    ]


def figure(results: Results, scale: Scale) -> Figure:
    rows = []
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            for graph in GRAPHS:
                for rung in RUNGS:
                    plain, unit = _pair(algorithm, graph, gpu, rung, scale)
                    speedup = result(results, plain)["seconds"] / result(results, unit)["seconds"]
                    case = f"{algorithm}, {graph}"
                    rows.append({"gpu": gpu, "case": case, "rung": rung, "value": speedup, COMMAND: command_of(unit)})
    return Figure(
        "Ladder: what each modelling choice does to the speedup",
        Chart(
            "bars",
            x="rung",
            y="value",
            series="case",
            facet="gpu",
            y_label="speedup with the SCU",
            reference=1,
            better="higher",
        ),
        rows,
        "what the SCU paper leaves open",
        (),
        ["Each rung changes one thing against 'as modelled'; the launch cost and fill size change both systems."],
        name="scu-ladder",
    )
