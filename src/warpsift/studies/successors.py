"""The SCU and the units that followed from its limits, on one graph: time, energy, network traffic and area.

A design is a unit with some settings of the machine. Speedups are over the plain GPU in the same style.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warpsift.errors import unknown
from warpsift.graph import CsrGraph
from warpsift.machines import Machine, load_machine
from warpsift.run.execute import simulate
from warpsift.run.interconnect import flits
from warpsift.run.record import RunResult
from warpsift.units import UnitError, unit_named

Row = dict[str, Any]
UNITS = ("scu", "scu-slice", "iscu", "iru")


@dataclass(frozen=True)
class Design:
    """A unit and what is set in the machine."""

    name: str
    unit: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def lanes(width: int) -> dict[str, Any]:
    """Every lane has the buffers, the requests in flight and a hash port of its own (docs/scu.md: readings)."""
    return {"scu.width": width, "scu.resources": "lane", "noc.unit_ports": 1 + width}


def designs_for(machine: Machine) -> list[Design]:
    width = machine.unit("scu").width
    wide = 2 * width
    crossbar_units = ("scu", "scu-slice", "iscu")
    found = [Design(unit, unit) for unit in crossbar_units]
    if width > 1:
        found += [Design(f"{unit}, lanes", unit, lanes(width)) for unit in crossbar_units]
    found += [Design(f"{unit}, {wide} lanes", unit, lanes(wide)) for unit in crossbar_units]
    if width > 1:  # more lanes want more sets at each slice
        more = {"scu_slice.sets_per_slice": 64, "scu_slice.probes_per_slice": 256}
        found.append(Design(f"scu-slice, {wide} lanes, 64 sets", "scu-slice", {**lanes(wide), **more}))
    hashes = [
        ("iru", {}),
        ("iru, 16 entries", {"iru.hash_entries": 16}),
        ("iru, 256 entries", {"iru.hash_entries": 256}),
        ("iru, 2 banks", {"iru.hash_banks": 2}),
        ("iru, 4 banks", {"iru.hash_banks": 4}),
    ]
    return [*found, *(Design(name, "iru", settings) for name, settings in hashes)]


def study(
    graph: CsrGraph,
    algorithms: Iterable[str],
    gpu: str,
    overrides: Mapping[str, Any] | None = None,
    units: Iterable[str] = UNITS,
    note: Callable[[str], None] = lambda text: None,
) -> list[Row]:
    """Rows of algorithm and design; those that a unit has no driver for are left out."""
    common, units = dict(overrides or {}), tuple(units)
    for name in units:
        if name not in UNITS:
            raise UnitError(unknown("unit of this study", name, UNITS))
    rows: list[Row] = []
    for algorithm in algorithms:
        # PageRank's iterations are alike; two of them are enough for a ratio
        choices: dict[str, Any] = {"max_iterations": 2} if algorithm == "pagerank" else {}
        note(f"{algorithm}, plain")
        plain = simulate(algorithm, graph, gpu=gpu, style="frontier", overrides=common, **choices)
        for design in designs_for(load_machine(gpu, common)):
            if design.unit not in units or algorithm not in unit_named(design.unit).drivers(None):
                continue
            note(f"{algorithm}, {design.name}")
            settings = {**common, **design.settings}
            found = simulate(algorithm, graph, gpu=gpu, unit=design.unit, overrides=settings, **choices)
            rows.append(_row(algorithm, design, plain, found, load_machine(gpu, settings)))
    return rows


def _row(algorithm: str, design: Design, plain: RunResult, found: RunResult, machine: Machine) -> Row:
    def ratio(of: Callable[[RunResult], float]) -> float:
        return of(plain) / of(found)

    return {
        "graph": plain.graph["name"],
        "algorithm": algorithm,
        "design": design.name,
        "check": found.check,
        "cycles": found.timing["cycles"],
        "speedup": ratio(lambda run: run.timing["cycles"]),
        "energy": ratio(lambda run: run.energy["energy_joules"]),
        "flits": 1 / ratio(lambda run: flits(run.timing["counters"])),
        "mm2": unit_named(design.unit).area(machine).total_mm2,
    }
