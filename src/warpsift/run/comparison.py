"""Units side by side: the same algorithm on the same graph, with and without special hardware.

A unit is compared with the plain GPU in the style that it accelerates (scu: frontier, mff: vertex), so a comparison of
both has two baselines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.algorithms.options import declaration_of
from warpsift.costs.energy import EnergyReport, combine
from warpsift.costs.sensitivity import conclude, of_ratio
from warpsift.graph import CsrGraph
from warpsift.run.execute import run_request
from warpsift.run.interconnect import flits, simulator_stalls, stalls
from warpsift.run.observer import Observer
from warpsift.run.record import RunResult
from warpsift.run.request import Request, RequestError, algorithm_named, make_request
from warpsift.run.sampling.relative_error import ratio_interval
from warpsift.units import resolve

BASELINE = "none"
ENERGY = (
    "energy_joules", "power_watts", "energy_by_component", "power_by_component", "gpu_joules", "unit_joules",
    "static_joules", "gpu_idle", "energy_by_gpu_idle", "energy_range_joules", "least_certain",
)  # fmt: skip


SAMPLED = (
    "seconds", "gpu_seconds", "unit_seconds", "bandwidth_utilisation", "dram_bytes", "energy_joules", "power_watts",
    "gpu_joules", "unit_joules", "static_joules",
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One unit's run, and the baseline it is measured against."""

    result: RunResult
    baseline: RunResult

    @property
    def name(self) -> str:
        return self.result.unit

    def as_dict(self) -> dict[str, Any]:
        mine, base = self.result, self.baseline
        return {
            "unit": mine.unit,
            "style": mine.style,
            "check": mine.check,
            "seconds": mine.seconds,
            "speedup": _ratio(measured_seconds(base), measured_seconds(mine)),
            "measured_seconds": measured_seconds(mine),
            "speedup_of_all_phases": _ratio(base.seconds, mine.seconds),
            "gpu_seconds": mine.gpu_seconds,
            "unit_floor_seconds": mine.timing.get("unit_floor_seconds", 0.0),
            "speedup_at_floor": speedup_at_floor(mine, base),
            "unit_seconds": mine.unit_seconds,
            "compaction_share": compaction_share(mine),
            "gpu_warp_instructions": mine.warp_instructions,
            "gpu_instructions_removed": 1 - mine.warp_instructions / max(base.warp_instructions, 1),
            "frontier_elements": frontier_elements(mine),
            "transactions": mine.transactions,
            "transactions_per_memory_instruction": mine.transactions_per_memory_instruction,
            "sectors_per_memory_instruction": _ratio(mine.sectors, mine.memory_instructions),
            "bandwidth_utilisation": mine.bandwidth_utilisation,
            "dram_bytes": mine.dram_bytes,
            **self._interconnect(),
            **{name: mine.energy.get(name) for name in ENERGY},
            **self._savings(),
            "edges_touched_per_edge": mine.work["edges_touched_per_edge"],
            "iterations": mine.iterations,
            **self._intervals(),
        }

    def _intervals(self) -> dict[str, Any]:
        """95 % intervals of what is estimated, where a run is sampled."""
        mine, base = self.result, self.baseline
        if not (mine.sampling or base.sampling):
            return {}
        found = {name: mine.intervals.get(name) for name in SAMPLED}
        found["measured_seconds"] = measured_interval(mine, "seconds")
        times = (measured_interval(base, "seconds"), measured_interval(mine, "seconds"))
        found["speedup"] = ratio_interval(_ratio(measured_seconds(base), measured_seconds(mine)), *times)
        whole = (base.intervals.get("seconds"), mine.intervals.get("seconds"))
        found["speedup_of_all_phases"] = ratio_interval(_ratio(base.seconds, mine.seconds), *whole)
        saved = self._savings()["energy_reduction"]
        if saved is not None:
            joules = (measured_interval(base, "energy_joules"), measured_interval(mine, "energy_joules"))
            found["energy_reduction"] = ratio_interval(saved, *joules)
        return {"intervals": {name: value for name, value in found.items() if value is not None}}

    def _interconnect(self) -> dict[str, Any]:
        """Flits and stall cycles of what a speedup is of, and the shares of the baseline's that are saved."""
        mine, base = measured_counters(self.result), measured_counters(self.baseline)
        found = {"flits": (flits(mine), flits(base))}
        found["interconnect_stall_cycles"] = (sum(stalls(mine).values()), sum(stalls(base).values()))
        found["simulator_stall_cycles"] = (_printed(mine), _printed(base))
        values: dict[str, Any] = {name: value for name, (value, _) in found.items()}
        values["simulator_stalls"] = simulator_stalls(mine)
        return values | {
            f"{name}_saved": 1 - value / before if before else None for name, (value, before) in found.items()
        }

    def _savings(self) -> dict[str, Any]:
        """Energy of the baseline over this unit's: of what a speedup is of, and of all phases; for each `gpu_idle`."""
        mine, base = self.measured_energy, measured_energy(self.baseline)
        if mine is None or base is None:
            return {
                "energy_reduction": None,
                "energy_reduction_of_all_phases": None,
                "energy_reduction_by_gpu_idle": None,
            }
        modes = {mode: base.energy_joules / joules for mode, joules in mine.energy_by_gpu_idle.items()}
        return {
            "energy_reduction": base.energy_joules / mine.energy_joules,
            "energy_reduction_of_all_phases": self.baseline.energy_joules / self.result.energy_joules,
            "energy_reduction_by_gpu_idle": modes,
        }

    @property
    def measured_energy(self) -> EnergyReport | None:
        return measured_energy(self.result)

    def sensitivity(self) -> dict[str, Any] | None:
        """What every coefficient at half and at double does to the saving, and whether the saving survives."""
        mine, base = self.measured_energy, measured_energy(self.baseline)
        if mine is None or base is None or self.result is self.baseline:
            return None
        rows = [asdict(row) for row in of_ratio(base, mine)]
        return {"coefficients": rows, "conclusion": conclude([(base, mine)])}


def _printed(counters: Mapping[str, int]) -> int:
    """Stall cycles that GPGPU-Sim would print: reply network and L2 input."""
    found = simulator_stalls(counters)
    return found["reply_network"] + found["l2_input"]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def measured_seconds(result: RunResult) -> float:
    """What a speedup is of: all phases, but in the vertex style the compute stage alone.

    The MFF paper does not measure vertex scheduling (section 6.1); it is the same launches with and without the unit.
    """
    compute = [phase.timing["seconds"] for phase in result.phases if phase.name == COMPUTE_PHASE and phase.timing]
    return sum(compute) if result.style == "vertex" and compute else result.seconds


def measured_interval(result: RunResult, name: str) -> list[float] | None:
    """The interval of a number of what `measured_seconds` measures; None where everything is timed."""
    parts = zip(result.phases, result.intervals.get("phases", ()), strict=False)
    found = [known[name] for phase, known in parts if phase.name == COMPUTE_PHASE and name in known]
    if result.style != "vertex" or not found:
        return result.intervals.get(name)
    return [sum(low for low, _ in found), sum(high for _, high in found)]


def measured_counters(result: RunResult) -> dict[str, int]:
    """The counters of what `measured_seconds` measures."""
    found = [phase.timing["counters"] for phase in result.phases if phase.name == COMPUTE_PHASE and phase.timing]
    if result.style != "vertex" or not found:
        return dict(result.timing["counters"])
    return {name: sum(counters[name] for counters in found) for name in found[0]}


def speedup_at_floor(mine: RunResult, base: RunResult) -> float:
    """With the unit at its analytic floor: the SCU works while the GPU waits, the MFF while it runs its kernels."""
    floor = mine.timing.get("unit_floor_seconds", 0.0)
    if mine.style == "vertex":
        return _ratio(measured_seconds(base), floor or measured_seconds(mine))
    return _ratio(base.seconds, mine.gpu_seconds + floor)


def measured_energy(result: RunResult) -> EnergyReport | None:
    """The energy of what `measured_seconds` measures; None where the cost tables do not know the machine."""
    compute = [phase.energy for phase in result.phases if phase.name == COMPUTE_PHASE and phase.energy]
    return combine(compute) if result.style == "vertex" and compute else result.energy_report


def frontier_elements(result: RunResult) -> int:
    """Elements of node and edge frontiers that the GPU worked on."""
    counted = result.notes.get("frontier_elements")
    return int(counted if counted is not None else result.work["nodes_processed"] + result.work["edges_touched"])


def compaction_share(result: RunResult) -> float:
    """Share of the time in stream compaction, on the GPU or on a unit."""
    total = sum(phase.timing.get("cycles", 0) for phase in result.phases)
    compacting = sum(phase.timing.get("cycles", 0) for phase in result.phases if phase.compaction)
    return compacting / total if total else 0.0


@dataclass(frozen=True)
class Comparison:
    algorithm: str
    graph: str
    gpu: str
    entries: list[Entry]
    reading: str | None = None

    def as_dict(self, sensitivity: bool = False) -> dict[str, Any]:
        units = [entry.as_dict() for entry in self.entries]
        if sensitivity:
            for entry, row in zip(self.entries, units, strict=True):
                found = entry.sensitivity()
                row["sensitivity"] = found and {**found, "conclusion": found["conclusion"].as_dict()}
        return {
            "algorithm": self.algorithm,
            "graph": self.entries[0].result.graph,
            "gpu": self.gpu,
            "reading": self.reading,
            "units": units,
        }


def compare(
    algorithm: str,
    graph: CsrGraph,
    units: Sequence[str],
    *,
    observer: Observer | None = None,
    threads: int | None = None,
    **choices: Any,
) -> Comparison:
    """Run the algorithm once per unit, and once per baseline that these need."""
    requests = check_comparison(algorithm, graph.name, units, choices)
    results = {key: run_request(request, graph, observer, threads) for key, request in requests.items()}
    entries = [Entry(result, results[BASELINE, style]) for (_, style), result in results.items()]
    return Comparison(algorithm, graph.name, choices["gpu"], entries, choices.get("reading"))


def check_comparison(
    algorithm: str, graph: str, units: Sequence[str], choices: Mapping[str, Any]
) -> dict[tuple[str, str], Request]:
    """The runs of a comparison by unit and style, the baselines first; what cannot be run is told before any run."""
    if not choices.get("gpu"):
        raise RequestError("compare needs a GPU to time on: --gpu gtx980 (gpu='gtx980'; see 'warpsift list machines')")
    chosen = algorithm_named(algorithm)
    found = {name: resolve(name) for name in units}
    for unit in found.values():
        if unit is not None and unit.style is not None:
            unit.driver(algorithm, None)  # a clear sentence if it has none
    usual = choices.get("style", chosen.usual_style)
    others = [(name, unit.style or usual) for name, unit in found.items() if unit is not None]
    styles = list(dict.fromkeys(style for _, style in others)) or [usual]
    requests = {}
    for name, style in [*((BASELINE, style) for style in styles), *others]:
        own = _for_style(algorithm, choices, style, styles)
        requests[name, style] = make_request(algorithm, graph, {**own, "unit": name, "style": style})
    return requests


def _for_style(algorithm: str, choices: Mapping[str, Any], style: str, styles: Sequence[str]) -> dict[str, Any]:
    """The choices without options that only another of the compared styles reads."""
    reads = {f.name: declaration_of(f).styles for f in fields(algorithm_named(algorithm).options)}
    return {
        name: value
        for name, value in choices.items()
        if not reads.get(name) or style in reads[name] or not set(styles) & set(reads[name])
    }
