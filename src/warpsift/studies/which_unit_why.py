"""Why a unit wins or loses: its speedup over the plain GPU in its own style, beside counters of that plain run.

The counters were chosen beforehand, from what each paper says its unit does; all of them are listed with their rank
correlation (Spearman's rho) over all graphs and algorithms, and the strongest is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from warpsift.report.figures import COMMAND, Chart, Figure
from warpsift.report.provenance import command_of
from warpsift.run.request import Request
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

Run = Mapping[str, Any]


def _compacting(run: Run) -> float:
    cycles = {True: 0.0, False: 0.0}
    for phase in run["phases"]:
        cycles[phase["compaction"]] += phase["cycles"]
    return cycles[True] / sum(cycles.values())


def _in_phase(run: Run, name: str) -> float:
    return sum(p["cycles"] for p in run["phases"] if p["phase"] == name) / sum(p["cycles"] for p in run["phases"])


def _launches(run: Run) -> float:
    return float(sum(phase["launches"] for phase in run["phases"] if not phase["unit"]))


COUNTERS: dict[str, Callable[[Run], float]] = {
    "compaction's share of the time": _compacting,
    "compute stage's share of the time": lambda run: _in_phase(run, "compute"),
    "edges touched per edge": lambda run: run["work"]["edges_touched_per_edge"],
    "transactions per memory instruction": lambda run: run["transactions_per_memory_instruction"],
    "active lanes": lambda run: run["active_lanes"],
    "L1 hit rate": lambda run: run["l1_hit_rate"],
    "L2 hit rate": lambda run: run["l2_hit_rate"],
    "bandwidth utilisation": lambda run: run["bandwidth_utilisation"],
    "mean load latency, cycles": lambda run: run["mean_load_latency_cycles"],
    "edges per launch": lambda run: run["work"]["edges_touched"] / _launches(run),
}


class Why:
    """One unit's speedups against the counter that goes with them most."""

    def __init__(self, unit: str, style: str) -> None:
        self.unit, self.style = unit, style
        self.name = f"which-unit-why-{unit.lower()}"

    def _pair(self, algorithm: str, graph: str, scale: Scale) -> tuple[Request, Request]:
        """The plain GPU in the unit's style and the GPU with the unit, at equal area."""
        from warpsift.studies import which_unit as study

        found = study.wanted((study.MAIN_GPU, algorithm, graph), scale)
        return found[self.style], found[self.unit]

    def matrix(self, scale: Scale) -> list[Request]:
        return []  # all of them are contenders above

    def figure(self, results: Results, scale: Scale) -> Figure:
        from warpsift.studies.which_unit import MAIN_GPU, cases, software

        rows: list[dict[str, Any]] = []
        for _, algorithm, graph in cases((MAIN_GPU,)):
            if self.style not in software(MAIN_GPU, algorithm):
                continue  # no contender
            plain, unit = self._pair(algorithm, graph, scale)
            before, after = (results[wanted].result or {} for wanted in (plain, unit))
            row = {"algorithm": algorithm, "graph": graph, "speedup": before["seconds"] / after["seconds"]}
            row |= {name: counter(before) for name, counter in COUNTERS.items()}
            rows.append(row | {COMMAND: command_of(unit)})
        ranked = correlations(rows)
        strongest = max(ranked, key=lambda name: abs(ranked[name]))
        listed = ", ".join(f"{name} {rho:+.2f}" for name, rho in sorted(ranked.items(), key=lambda i: -abs(i[1])))
        return Figure(
            f"Why: the {self.unit}'s speedup over the plain GPU in its own style",
            Chart(
                "scatter", x=strongest, y="speedup", series="algorithm", x_label=strongest, reference=1, better="higher"
            ),
            rows,
            "our own question",
            (),
            [
                "Each point is a graph; the counter is that of the plain GPU's run in the same style, at equal area.",
                f"Rank correlation with the speedup, over all points: {listed}.",
            ],
            name=self.name,
        )


def correlations(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Spearman's rho of every counter with the speedup; counters that do not vary are left out."""
    from scipy.stats import spearmanr

    found = {}
    for name in COUNTERS:
        values = [row[name] for row in rows]
        if len(set(values)) > 1:
            found[name] = float(spearmanr(values, [row["speedup"] for row in rows]).statistic)
    return found or {next(iter(COUNTERS)): 0.0}
