"""Energy of a timed run, from the engine's counters and the cost tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warpsift.costs.coefficients import CostTable, gpu_table, names
from warpsift.costs.cost_errors import CostError, CostNameError
from warpsift.costs.design import Design
from warpsift.costs.energy import EnergyReport, energy
from warpsift.costs.events import with_seconds
from warpsift.machines.spec import Machine
from warpsift.run.record import RunResult
from warpsift.run.request import Request
from warpsift.units import resolve

if TYPE_CHECKING:
    from warpsift.engine import Engine

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


def prices_of(machine: Machine) -> CostTable:
    """The cost table of a machine: the one it names, its own, or that of the nearest machine that it extends."""
    found = next((name for name in _candidates(machine) if name in names() or name.endswith(".toml")), None)
    if found is None:
        known = ", ".join(names())
        raise CostNameError(
            f"no prices for machine {machine.name!r}: neither it nor a machine that it extends has a cost table. "
            f'Write prices = "gtx980" in its file (or --set prices=gtx980) to take those of a shipped table, scaled to '
            f'its SMs, L2 and channels ({known}), or prices = "mine.toml" for a table of its own '
            f"(docs/energy.md: a table of your own)"
        )
    return gpu_table(found)


def inherited_prices(machine: Machine) -> tuple[str, ...]:
    """A line where the prices are those of another machine, extended for other reasons than its technology."""
    table = prices_of(machine)
    if table.name == machine.name or machine.prices or _candidates(machine)[1] != machine.name:
        return ()  # its own, or named: the author of the file says that they hold
    made_for = f"{table.name} ({table.node_nm:g} nm, {table.voltage_v:g} V), which {machine.name} extends"
    return (f"prices are those of {made_for}: another technology is not followed",)


def has_prices(machine: Machine) -> bool:
    """Whether the machine names a cost table, or it or one that it extends has one."""
    return any(name in names() or name.endswith(".toml") for name in _candidates(machine))


def _candidates(machine: Machine) -> tuple[str, ...]:
    return (machine.prices, *(machine.lineage or (machine.name,)))


def energy_of(
    counters: Mapping[str, float], machine: Machine, unit: str, waiting_cycles: float, overrides: Mapping[str, Any]
) -> EnergyReport:
    """What the run cost while the GPU waited `waiting_cycles` for the unit."""
    chosen = resolve(unit)
    report = energy(
        with_seconds(counters, machine.clocks.core_mhz, waiting_cycles),
        prices_of(machine),
        chosen.built(machine) if chosen is not None else (),
        str(overrides.get(GPU_IDLE_KEY, "none")),
        overrides=coefficients_of(overrides),
        design=Design.of(machine),
    )
    return replace(report, notes=(*inherited_prices(machine), *report.notes))


def add_energy(result: RunResult, engine: Engine, machine: Machine, request: Request) -> None:
    """Joules and watts, where the cost tables know the machine."""
    try:
        prices_of(machine)
    except CostNameError as error:
        result.notes["energy"] = str(error)
        return
    waiting = sum(timed.counters.cycles for timed in engine.operations)
    result.energy_report = energy_of(engine.total, machine, request.unit, waiting, request.overrides)
    result.energy = result.energy_report.to_dict()
    if result.energy_report.notes:
        result.notes["energy"] = "; ".join(result.energy_report.notes)
    for known in ("machine", "unit", "seconds"):
        result.energy.pop(known)
    for phase in result.phases:
        if phase.timing:
            counters = phase.timing["counters"]
            waited = counters["cycles"] if phase.unit else 0.0
            phase.energy = energy_of(counters, machine, request.unit, waited, request.overrides)
