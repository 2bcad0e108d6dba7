"""Which unit suits which graph? A study of our own, on one GPU, against the stronger software a reviewer would ask for.

For ten kinds of graph (those of both papers): every software style on the plain GPU (BFS also direction-optimising,
PageRank also by pulling), the plain GPU with the area of an SCU spent on L2 ways, the SCU, and the MFF. A control runs
the same on graphs numbered by degree, to tell a unit's gain from one that a better numbering would give for nothing.
"""

from __future__ import annotations

from typing import Any

from warpsift.algorithms import ALGORITHMS
from warpsift.experiments.scale import Scale
from warpsift.machines import load_machine
from warpsift.report.figures import COMMAND, Chart, Figure
from warpsift.report.provenance import command_of
from warpsift.request import Request, make_request
from warpsift.sweep import Results

TITLE = "Which unit suits which graph?"
GRAPHS = (
    "ca", "cond", "delaunay", "human", "kron", "msdoor", "dblp-2010", "cnr-2000", "amazon-2008", "dewiki-2013",
)  # fmt: skip
GPU = "gtx980"
NAMES = ("bfs", "sssp", "pagerank", "wcc")
# 2 of 16 ways of a 2 MB L2 take 0.60 mm2 at 32 nm (CACTI 7: 4.8 mm2 for all), which is what the SCU takes.
EXTRA_L2_WAYS = 2


def systems(algorithm: str) -> dict[str, dict[str, Any]]:
    """Name -> what to ask for."""
    found: dict[str, dict[str, Any]] = {f"GPU, {style}": {"style": style} for style in ALGORITHMS[algorithm].styles}
    machine = load_machine(GPU)
    ways = machine.l2.ways + EXTRA_L2_WAYS
    size = machine.l2.size_bytes // machine.l2.ways * ways
    found["GPU, larger L2"] = {"style": "frontier", "overrides": {"l2.ways": str(ways), "l2.size_bytes": str(size)}}
    found["SCU"] = {"unit": "scu-basic" if algorithm == "pagerank" else "scu"}
    found["MFF"] = {"unit": "mff"}
    return found


def request(algorithm: str, graph: str, choices: dict[str, Any], scale: Scale, order: str = "") -> Request:
    limit = {"max_iterations": scale.iterations} if algorithm == "pagerank" else {}
    name = scale.graph(graph) + (f"~{order}" if order else "")
    return make_request(algorithm, name, {"gpu": GPU, **choices, **limit})


class _Study:
    """One figure: a measure of every system, relative to the best software on the plain GPU."""

    def __init__(self, title: str, name: str, column: str, order: str = "") -> None:
        self.title, self.name, self.column, self.order = title, name, column, order

    def matrix(self, scale: Scale) -> list[Request]:
        return [
            request(algorithm, graph, choices, scale, self.order)
            for graph in GRAPHS
            for algorithm in NAMES
            for choices in systems(algorithm).values()
        ]

    def figure(self, results: Results, scale: Scale) -> Figure:
        rows: list[dict[str, Any]] = []
        wins: dict[str, int] = {}
        for algorithm in NAMES:
            for graph in GRAPHS:
                found = {}
                for system, choices in systems(algorithm).items():
                    wanted = request(algorithm, graph, choices, scale, self.order)
                    record = results[wanted].result
                    assert record is not None
                    found[system] = (self._value(record), wanted)
                best = min(value for system, (value, _) in found.items() if system.startswith("GPU, "))
                winner = min(found, key=lambda system: found[system][0])
                kind = winner if winner in ("SCU", "MFF") else "software"
                wins[kind] = wins.get(kind, 0) + 1
                for system, (value, wanted) in found.items():
                    row = {"algorithm": algorithm, "graph": graph, "system": system, "value": best / value}
                    rows.append(row | {"wins": system == winner, COMMAND: command_of(wanted)})
        tally = ", ".join(f"{name} {count}" for name, count in sorted(wins.items(), key=lambda item: -item[1]))
        return Figure(
            self.title,
            Chart(
                "bars",
                x="graph",
                y="value",
                series="system",
                facet="algorithm",
                y_label="best software = 1",
                reference=1,
            ),
            rows,
            "our own question",
            (),
            [f"Wins over {len(GRAPHS) * len(NAMES)} pairs of graph and algorithm: {tally}."],
            name=self.name,
        )

    def _value(self, run: Any) -> float:
        if self.column == "energy" and run["unit"] != "none":
            return run["energy_by_gpu_idle"]["power_gate"]
        return run["energy_joules"] if self.column == "energy" else run["seconds"]


EXPERIMENTS = (
    _Study("Speed of each system, best software on the plain GPU = 1", "which-unit-time", "time"),
    _Study("Energy efficiency of each system, best software = 1", "which-unit-energy", "energy"),
    _Study("Control: the same with nodes numbered by degree", "which-unit-degree", "time", "degree"),
)
