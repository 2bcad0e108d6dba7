"""The memory fast-forward unit against the plain GPU: speedup, energy, power, traffic (MFF paper, Figs. 8 to 10).

The paper measures the compute stage of each super-step and not vertex scheduling (section 6.1); so do we, and report
the rest apart. The baseline runs at full occupancy and at the occupancy that the unit's targets leave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.engine.counters import Counters, total_of
from warpsift.graph import CsrGraph
from warpsift.machines import Machine, load_machine
from warpsift.run.execute import run_request
from warpsift.run.interconnect import flits, simulator_stalls, stalls
from warpsift.run.observer import Observer
from warpsift.run.request import make_request
from warpsift.run.run_energy import energy_of, has_prices
from warpsift.simt import Chunk, LaunchInfo, Sink
from warpsift.simt.stream import UnitOperation

Row = dict[str, Any]

# variant -> what is asked for beside the vertex style
VARIANTS: dict[str, Mapping[str, Any]] = {
    "plain": {},
    "plain, target occupancy": {"occupancy": "target"},
    "plain, byte stores": {"bit_setting": "byte"},
    "plain, checked": {"checked_activation": True},
    "mff": {"unit": "mff"},
    "mff, byte stores": {"unit": "mff", "bit_setting": "byte"},
    "mff, 16-word targets": {"unit": "mff", "target_words": 16},
    "mff, 8-word targets": {"unit": "mff", "target_words": 8},
}
# What the paper reports (section 6.2); averages over its five graphs.
PAPER = {
    "speedup": {"pagerank": 1.75, "bfs": 5.22},
    "energy_reduction": 0.546,
    "memory_traffic_reduction": 0.275,
    "interconnect_stall_reduction": 0.883,
}


class ComputeOnly:
    """A sink in front of another that lets only the compute stage through; the rest is run, but not timed."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._open = False

    def begin(self, launch: LaunchInfo) -> None:
        self._open = launch.phase == COMPUTE_PHASE
        if self._open:
            self._sink.begin(launch)

    def chunk(self, chunk: Chunk) -> None:
        if self._open:
            self._sink.chunk(chunk)

    def end(self) -> None:
        if self._open:
            self._sink.end()

    def operation(self, operation: UnitOperation) -> None:
        """No unit with operations of its own takes part here."""


def measure(graph: CsrGraph, algorithm: str, variant: str, choices: Mapping[str, Any], all_phases: bool = True) -> Row:
    """Run one algorithm in one variant; the numbers of its compute stage. `choices` name the GPU, and more if wanted.

    Without `all_phases` the engine does not see vertex scheduling and commits, which saves most of the time on graphs
    with many super-steps; L2 then keeps what it held when the last compute stage ended.
    """
    asked = {"style": "vertex", "check": False, **choices, **VARIANTS[variant]}
    request = make_request(algorithm, graph.name, asked)
    result = run_request(request, graph, Observer(before_engine=None if all_phases else ComputeOnly))
    result.engine.close()
    compute = [Counters(p.timing["counters"]) for p in result.phases if p.name == COMPUTE_PHASE and p.timing]
    rest = sum(phase.timing.get("cycles", 0) for phase in result.phases if phase.name != COMPUTE_PHASE)
    return {
        "graph": graph.name,
        "nodes": graph.nodes,
        "edges": graph.edges,
        "algorithm": algorithm,
        "variant": variant,
        "machine": result.machine["name"] if result.machine else "",
        "iterations": result.iterations,
        "other_phases_cycles": rest,
        **figures(total_of(compute), load_machine(choices["gpu"], choices.get("overrides")), request.unit),
    }


def figures(total: Counters, machine: Machine, unit: str) -> Row:
    """What the comparison needs of the compute stage's counters."""
    cycles = max(total.cycles, 1)
    row: Row = {
        "cycles": total.cycles,
        "dram_bytes": (total.dram_reads + total.dram_writes) * machine.dram.burst_bytes,
        "noc_flits": flits(total),
        "noc_stall_cycles": sum(stalls(total).values()),
        "noc_stalls": stalls(total),
        "simulator_stalls": simulator_stalls(total),
        "bandwidth": (total.dram_reads + total.dram_writes)
        * machine.dram.burst_bytes
        / (cycles / (machine.clocks.core_mhz * 1e6))
        / machine.peak_dram_bytes_per_second,
        "warp_instructions": total.warp_instructions,
        "resident_warps": total.resident_warp_cycles / cycles,
        "counters": {name: value for name, value in total.items() if name.startswith("mff_") and value},
    }
    if has_prices(machine):
        report = energy_of(total, machine, unit, 0.0, {})
        row["energy_joules"], row["power_watts"] = report.energy_joules, report.power_watts
        row["energy_range_joules"] = list(report.range_joules)
        row["power_by_part"] = power_by_part(report.energy_by_component, report.seconds)
    return row


def power_by_part(joules: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Watts in the groups of the paper's Fig. 9: core, caches, NOC, memory, the unit, static."""
    groups = {"sm": "core", "l1": "cache", "l2": "cache", "noc": "noc", "dram": "memory", "mff": "mff"}
    watts: dict[str, float] = {}
    for component, value in joules.items():
        group = groups.get(component.partition(".")[0], "static")
        watts[group] = watts.get(group, 0.0) + value / max(seconds, 1e-12)
    return watts


def study(
    graphs: Iterable[CsrGraph],
    algorithms: Iterable[str] = ("pagerank", "bfs", "sssp", "wcc"),
    variants: Iterable[str] = ("plain", "plain, target occupancy", "mff"),
    **choices: Any,
) -> list[Row]:
    """All combinations; see `compare` for the ratios."""
    names, chosen = list(algorithms), list(variants)
    asked = {"gpu": "gtx480", **choices}
    rows = []
    for graph in graphs:
        for name in names:
            # Every super-step of PageRank does the same work: two stand for all (the ratio is that of one).
            limit = {"max_iterations": 2} if name == "pagerank" else {}
            rows += [measure(graph, name, variant, limit | asked) for variant in chosen]
    return rows


def compare(rows: Iterable[Row], baseline: str = "plain") -> list[Row]:
    """Each row of a `study` against the baseline on the same graph and algorithm."""
    rows = list(rows)
    bases = {(r["graph"], r["algorithm"]): r for r in rows if r["variant"] == baseline}
    found = []
    for r in rows:
        base = bases[r["graph"], r["algorithm"]]
        ratios = {
            "speedup": base["cycles"] / max(r["cycles"], 1),
            "memory_traffic_reduction": 1 - r["dram_bytes"] / max(base["dram_bytes"], 1),
            "flit_reduction": 1 - r["noc_flits"] / max(base["noc_flits"], 1),
            "interconnect_stall_reduction": 1 - r["noc_stall_cycles"] / max(base["noc_stall_cycles"], 1),
        }
        if "energy_joules" in r:
            ratios["energy_reduction"] = 1 - r["energy_joules"] / base["energy_joules"]
        found.append({key: r[key] for key in ("graph", "algorithm", "variant")} | ratios)
    return found
