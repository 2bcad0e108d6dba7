"""Energy of a timed run, from the engine's counters and the cost tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpsift.costs.area import MffHardware, ScuHardware, unit_instance
from warpsift.costs.coefficients import names
from warpsift.costs.energy import EnergyReport, UnitInstance, combine, energy
from warpsift.costs.errors import CostError
from warpsift.costs.events import with_seconds
from warpsift.machines.spec import Machine
from warpsift.results.store import Record

PREFIX = "costs."  # --set costs.NAME=VALUE replaces a coefficient (joules or watts)
GPU_IDLE_KEY = f"{PREFIX}gpu_idle"  # the one that is a word: what the SMs do while a unit works


def coefficients_of(overrides: Mapping[str, Any]) -> dict[str, float]:
    """The cost coefficients among the overrides of a request."""
    found = {}
    for key, value in overrides.items():
        if key.startswith(PREFIX) and key != GPU_IDLE_KEY:
            try:
                found[key.removeprefix(PREFIX)] = float(value)
            except ValueError:
                raise CostError(f"{key} = {value!r} is not a number; write joules or watts, such as 15.3.") from None
    return found


def has_prices(machine: Machine) -> bool:
    """Whether the cost tables know the machine's card."""
    return machine.name in names() or machine.name.split("-")[0] in names()


def unit_as_built(unit: str, machine: Machine) -> UnitInstance | None:
    """The unit that a run had, with what it leaks."""
    if unit.startswith("scu"):
        return unit_instance(ScuHardware.of(machine.scu, enhanced=unit != "scu-basic"))
    if unit == "mff":
        return unit_instance(MffHardware.of(machine.mff, machine.l2.slices))
    return None


def energy_of(
    counters: Mapping[str, float], machine: Machine, unit: str, waiting_cycles: float, overrides: Mapping[str, Any]
) -> EnergyReport:
    """What the run cost while the GPU waited `waiting_cycles` for the unit."""
    return energy(
        with_seconds(counters, machine.clocks.core_mhz, waiting_cycles),
        machine.name,
        unit_as_built(unit, machine),
        str(overrides.get(GPU_IDLE_KEY, "none")),
        overrides=coefficients_of(overrides),
        dram_access_bytes=machine.dram.burst_bytes,
    )


def energy_of_stored(record: Record, gpu_idle: str, phase: str | None = None) -> EnergyReport:
    """The energy of a finished run from the counters that the store holds, of one phase or of all of them.

    Unlike the numbers in the record it is a whole report: what rests on which price can be asked of it.
    """
    from warpsift.machines import load_machine

    assert record.result is not None, "only a finished run has counters"
    asked = record.request
    settings = {key: value for key, value in asked["overrides"].items() if not key.startswith(PREFIX)}
    machine = load_machine(asked["gpu"], settings)
    parts = [part for part in record.result["phases"] if phase is None or part["phase"] == phase]
    reports = [
        energy_of(
            part["counters"],
            machine,
            asked["unit"],
            part["cycles"] if part["unit"] else 0.0,
            {**asked["overrides"], GPU_IDLE_KEY: gpu_idle},
        )
        for part in parts
    ]
    return combine(reports)
