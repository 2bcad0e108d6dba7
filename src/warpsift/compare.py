"""Units side by side: the same algorithm on the same graph, with and without special hardware.

A unit is compared with the plain GPU in the style that it accelerates (scu: frontier, mff: vertex), so a comparison of
both has two baselines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warpsift.api import Observer, run_request
from warpsift.graph import CsrGraph
from warpsift.request import UNIT_STYLES, Request, RequestError, make_request, unknown
from warpsift.results.record import RunResult

BASELINE = "none"
COMPUTE_PHASE = "compute"  # of the vertex style


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
        energy = mine.energy.get("energy_joules")
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
            "speedup_at_floor": _ratio(base.seconds, mine.gpu_seconds + mine.timing.get("unit_floor_seconds", 0.0)),
            "unit_seconds": mine.unit_seconds,
            "compaction_share": compaction_share(mine),
            "gpu_warp_instructions": mine.warp_instructions,
            "gpu_instructions_removed": 1 - mine.warp_instructions / max(base.warp_instructions, 1),
            "frontier_elements": frontier_elements(mine),
            "transactions": mine.transactions,
            "transactions_per_memory_instruction": mine.transactions_per_memory_instruction,
            "bandwidth_utilisation": mine.bandwidth_utilisation,
            "dram_bytes": mine.dram_bytes,
            "energy_joules": energy,
            "power_watts": mine.energy.get("power_watts"),
            "gpu_joules": mine.energy.get("gpu_joules"),
            "unit_joules": mine.energy.get("unit_joules"),
            "energy_by_gpu_idle": mine.energy.get("energy_by_gpu_idle"),
            "energy_reduction": base.energy["energy_joules"] / energy if energy else None,
            "edges_touched_per_edge": mine.work["edges_touched_per_edge"],
            "iterations": mine.iterations,
        }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def measured_seconds(result: RunResult) -> float:
    """What a speedup is of: all phases, but in the vertex style the compute stage alone.

    The MFF paper does not measure vertex scheduling (section 6.1); it is the same launches with and without the unit.
    """
    compute = [phase.timing["seconds"] for phase in result.phases if phase.name == COMPUTE_PHASE and phase.timing]
    return sum(compute) if result.style == "vertex" and compute else result.seconds


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

    def as_dict(self) -> dict[str, Any]:
        return {
            "algorithm": self.algorithm,
            "graph": self.entries[0].result.graph,
            "gpu": self.gpu,
            "units": [entry.as_dict() for entry in self.entries],
        }


def compare(
    algorithm: str, graph: CsrGraph, units: Sequence[str], *, observer: Observer | None = None, **choices: Any
) -> Comparison:
    """Run the algorithm once per unit, and once per baseline that these need."""
    if not choices.get("gpu"):
        raise RequestError("compare needs a GPU to time on: gpu='gtx980' (see 'warpsift list machines')")
    wanted = _checked(units, choices.pop("style", None))
    results: dict[tuple[str, str], RunResult] = {}

    def result_of(unit: str, style: str) -> RunResult:
        key = (unit, style)
        if key not in results:
            request: Request = make_request(algorithm, graph.name, {**choices, "unit": unit, "style": style})
            results[key] = run_request(request, graph, observer or Observer())
        return results[key]

    entries = [Entry(result_of(unit, style), result_of(BASELINE, style)) for unit, style in wanted]
    return Comparison(algorithm, graph.name, choices["gpu"], entries)


def _checked(units: Sequence[str], style: str | None) -> list[tuple[str, str]]:
    """Units with their styles; the baseline comes once per style, first."""
    for unit in units:
        if unit != BASELINE and unit not in UNIT_STYLES:
            raise RequestError(unknown("unit", unit, [BASELINE, *UNIT_STYLES]))
    others = [(unit, UNIT_STYLES[unit]) for unit in dict.fromkeys(units) if unit != BASELINE]
    styles = list(dict.fromkeys(s for _, s in others)) or [style or "frontier"]
    return [(BASELINE, s) for s in styles] + others
