"""Energy of a timed run, from the engine's counters and the cost tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpsift.costs.area import MffHardware, ScuHardware, unit_instance
from warpsift.costs.coefficients import names
from warpsift.costs.energy import EnergyReport, UnitInstance, energy
from warpsift.costs.events import with_seconds
from warpsift.machines.spec import Machine

PREFIX = "costs."  # --set costs.NAME=VALUE replaces a coefficient (joules or watts)


def coefficients_of(overrides: Mapping[str, Any]) -> dict[str, float]:
    """The cost coefficients among the overrides of a request."""
    return {key.removeprefix(PREFIX): float(value) for key, value in overrides.items() if key.startswith(PREFIX)}


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
        overrides=coefficients_of(overrides),
        dram_access_bytes=machine.dram.burst_bytes,
    )
