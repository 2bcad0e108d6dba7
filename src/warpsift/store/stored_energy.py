"""The energy of a stored run from its counters, at the prices that hold today.

A store keeps the joules of the day on which a run was made. Prices are mended oftener than timing, so whoever compares
runs of different days asks here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpsift.costs.energy import EnergyReport, combine
from warpsift.machines import Machine, load_machine
from warpsift.run.run_energy import GPU_IDLE_KEY, PREFIX, energy_of, has_prices
from warpsift.store.store import Record


def machine_of_stored(asked: Mapping[str, Any]) -> Machine:
    """The machine of a stored request; the prices among its settings are no part of it."""
    settings = {key: value for key, value in asked["overrides"].items() if not key.startswith(PREFIX)}
    return load_machine(asked["gpu"], settings)


def energy_of_stored(record: Record, gpu_idle: str, phase: str | None = None) -> EnergyReport:
    """The energy of a finished run from the counters that the store holds, of one phase or of all of them.

    Unlike the numbers in the record it is a whole report: what rests on which price can be asked of it.
    """
    assert record.result is not None, "only a finished run has counters"
    asked = {**record.request, "overrides": {**record.request["overrides"], GPU_IDLE_KEY: gpu_idle}}
    machine = machine_of_stored(asked)
    parts = [part for part in record.result["phases"] if phase is None or part["phase"] == phase]
    return combine(_of_phase(asked, machine, part) for part in parts)


def _of_phase(asked: Mapping[str, Any], machine: Machine, phase: Mapping[str, Any]) -> EnergyReport:
    waiting = phase["cycles"] if phase["unit"] else 0.0
    return energy_of(phase["counters"], machine, asked["unit"], waiting, asked["overrides"])


def repriced(record: Record) -> dict[str, Any]:
    """The result of a stored run with its energies, in all and by phase, at today's prices.

    Phases say `energy_by_gpu_idle`, `energy_by_component` and `static_joules` as well. A run without timing, or on a
    machine without prices, stays as it was.
    """
    result = dict(record.result or {})
    if record.request["gpu"] is None:
        return result
    machine = machine_of_stored(record.request)
    if not has_prices(machine):
        return result
    reports = [_of_phase(record.request, machine, phase) for phase in result["phases"]]
    phases = [{**phase, **_figures(report)} for phase, report in zip(result["phases"], reports, strict=True)]
    return {**result, **(_figures(combine(reports)) if reports else {}), "phases": phases}


def _figures(report: EnergyReport) -> dict[str, Any]:
    return {
        "energy_joules": report.energy_joules,
        "energy_by_gpu_idle": dict(report.energy_by_gpu_idle),
        "energy_by_component": report.energy_by_component,
        "static_joules": report.static_joules,
    }
