"""Energy of a run: counters x energy per event + power x time, per component, with the GPU's rest counted three ways.

Everything is linear in the coefficients, so a report is a list of `Charge`s (coefficient x quantity = joules). From
it follow the totals per component, the split between GPU and unit, what rests on which number, and the sensitivity
to each coefficient (`sensitivity`).

An SM that has a warp pays `sm_clock`, one that has none `sm_idle`, both leak. While an SCU operation runs no SM has a
warp: the GPU waits for it (SCU paper, section 3). What its SMs take meanwhile is `gpu_idle`:
    none        as any SM without a warp: leakage and `sm_idle`
    clock_gate  leakage alone
    power_gate  `RETENTION` of the leakage
L2, interconnect, memory and board stay on in all three, since the unit uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from warpsift.costs.coefficients import UNIT_LEAKAGE, CostTable, gpu_table
from warpsift.costs.cost_errors import CostError, CostNameError, unknown
from warpsift.costs.design import Design, scaled
from warpsift.costs.events import DRAM_EVENTS, GPU_EVENTS, GPU_POWERS, Counters, Event, with_derived

GPU_IDLE = ("none", "clock_gate", "power_gate")
RETENTION = 0.05  # assumption: sleep transistors and retained state leave a few percent of an SM's leakage


@dataclass(frozen=True)
class Charge:
    """One coefficient times how often it was paid (events, or seconds for a power)."""

    coefficient: str
    component: str
    quantity: float
    joules: float
    low: float  # factors between which the coefficient's true value is thought to lie
    high: float
    trust: str


@dataclass(frozen=True)
class EnergyReport:
    """What a run cost. `energy_joules` is the sum of `charges`."""

    machine: str
    units: tuple[str, ...]
    gpu_idle: str
    seconds: float
    charges: tuple[Charge, ...]
    energy_by_gpu_idle: Mapping[str, float] = field(default_factory=dict)  # joules for each of GPU_IDLE
    notes: tuple[str, ...] = ()  # changes of the design that the prices could not follow

    @property
    def energy_joules(self) -> float:
        return sum(charge.joules for charge in self.charges)

    @property
    def power_watts(self) -> float:
        return self.energy_joules / self.seconds if self.seconds else 0.0

    @property
    def energy_by_component(self) -> dict[str, float]:
        joules: dict[str, float] = {}
        for charge in self.charges:
            joules[charge.component] = joules.get(charge.component, 0.0) + charge.joules
        return joules

    @property
    def power_by_component(self) -> dict[str, float]:
        return {
            name: joules / self.seconds if self.seconds else 0.0 for name, joules in self.energy_by_component.items()
        }

    @property
    def unit_joules(self) -> float:
        """What the unit itself took; everything else, memory included, is the GPU's."""
        own = tuple(f"{unit}." for unit in self.units)
        return sum(charge.joules for charge in self.charges if charge.component.startswith(own))

    @property
    def gpu_joules(self) -> float:
        return self.energy_joules - self.unit_joules

    @property
    def static_joules(self) -> float:
        """What is paid by time, whatever happens."""
        return sum(c.joules for c in self.charges if c.component.startswith(("static.", "dram.background")))

    @property
    def range_joules(self) -> tuple[float, float]:
        """How far the coefficients' ranges reach if they err independently: root of the sum of squares, each way.

        With every coefficient at its low end at once the energy would be lower than the first figure, and higher than
        the second with all at their high ends; ranges that rest on one measurement do move together.
        """
        by_name = _uncertainty(self)
        down = sum(low**2 for low, _ in by_name.values()) ** 0.5
        up = sum(high**2 for _, high in by_name.values()) ** 0.5
        return self.energy_joules - down, self.energy_joules + up

    @property
    def least_certain(self) -> dict[str, Any]:
        """The number whose own range moves the result most, and the share of the energy that rests on it."""
        by_name = _uncertainty(self)
        name = max(by_name, key=lambda n: sum(by_name[n]), default=None)
        if name is None or self.energy_joules == 0:
            return {"coefficient": None, "share": 0.0, "trust": None}
        trust = next(charge.trust for charge in self.charges if charge.coefficient == name)
        return {"coefficient": name, "share": joules_by_coefficient(self)[name] / self.energy_joules, "trust": trust}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "machine": self.machine,
            "unit": "+".join(self.units) or None,
            "gpu_idle": self.gpu_idle,
            "seconds": self.seconds,
            "energy_joules": self.energy_joules,
            "power_watts": self.power_watts,
            "energy_by_component": self.energy_by_component,
            "power_by_component": self.power_by_component,
            "gpu_joules": self.gpu_joules,
            "unit_joules": self.unit_joules,
            "static_joules": self.static_joules,
            "energy_by_gpu_idle": dict(self.energy_by_gpu_idle),
            "energy_range_joules": list(self.range_joules),
            "least_certain": self.least_certain,
        }


def joules_by_coefficient(report: EnergyReport) -> dict[str, float]:
    """How many joules each coefficient brought in."""
    joules: dict[str, float] = {}
    for charge in report.charges:
        joules[charge.coefficient] = joules.get(charge.coefficient, 0.0) + charge.joules
    return joules


def _uncertainty(report: EnergyReport) -> dict[str, tuple[float, float]]:
    """For each coefficient, how many joules its range reaches below and above."""
    found: dict[str, tuple[float, float]] = {}
    for charge in report.charges:
        below, above = found.get(charge.coefficient, (0.0, 0.0))
        found[charge.coefficient] = (
            below + (1 - charge.low) * charge.joules,
            above + (charge.high - 1) * charge.joules,
        )
    return found


@dataclass(frozen=True)
class BuiltUnit:
    """A unit as built: what it pays for, at which prices, and what its storage and logic leak."""

    name: str  # also the prefix of its components
    events: tuple[Event, ...]
    prices: CostTable
    leakage_w: float


def energy(
    counters: Counters,
    machine: str | CostTable,
    units: Sequence[BuiltUnit] = (),
    gpu_idle: str = "none",
    overrides: Mapping[str, float] | None = None,
    design: Design | None = None,
) -> EnergyReport:
    """The energy of a run on a machine (its cost table, or that table's name), with or without units.

    `counters` must hold `seconds`; `gpu_waiting_seconds` is the part of it in which the GPU waits for the unit, and
    `sm_active_seconds` the sum over SMs of the time in which they have a warp. A counter that is not there counts as
    0. `overrides` replaces coefficients (J or W) by name; `design` is the machine that ran, where it is not the one
    that the table was made for.
    """
    if gpu_idle not in GPU_IDLE:
        raise CostNameError(unknown("gpu_idle", gpu_idle, GPU_IDLE))
    time = _Time.of(counters)
    gpu, notes = scaled(gpu_table(machine) if isinstance(machine, str) else machine, design)
    gpu, units = _overridden(gpu, units, overrides or {})
    filled = with_derived(counters)
    charges = _event_charges(filled, gpu, (*GPU_EVENTS, *DRAM_EVENTS))
    charges += _dram_background(filled, gpu, time.seconds)
    for unit in units:
        charges += _event_charges(filled, unit.prices, unit.events)
        charges.append(_unit_static(unit, time.seconds))
    static = {mode: _gpu_static(gpu, time, mode) for mode in GPU_IDLE}
    rest = sum(c.joules for c in charges)
    totals = {mode: rest + sum(c.joules for c in static[mode]) for mode in GPU_IDLE}
    charges += static[gpu_idle]
    names = tuple(unit.name for unit in units)
    return EnergyReport(gpu.name, names, gpu_idle, time.seconds, tuple(charges), totals, notes)


@dataclass(frozen=True)
class _Time:
    """How long the run took, and what its SMs did meanwhile."""

    seconds: float
    waiting: float  # for the unit: no SM has a warp
    active_sm_seconds: float | None  # sum over SMs; None: every SM counts as active while the GPU does not wait

    @classmethod
    def of(cls, counters: Counters) -> _Time:
        seconds = float(counters.get("seconds", 0.0))
        waiting = float(counters.get("gpu_waiting_seconds", 0.0))
        if not 0 <= waiting <= seconds * (1 + 1e-9):
            raise CostError(
                f"gpu_waiting_seconds = {waiting:g} does not fit seconds = {seconds:g}; write 0 <= waiting <= seconds."
            )
        return cls(seconds, waiting, counters.get("sm_active_seconds"))

    def active(self, sm_count: int) -> float:
        """Seconds that all SMs together would have been active, which is what a power of all SMs is paid for."""
        running = self.seconds - self.waiting
        if self.active_sm_seconds is None:
            return running
        return min(running, self.active_sm_seconds / sm_count)


def _overridden(
    gpu: CostTable, units: Sequence[BuiltUnit], overrides: Mapping[str, float]
) -> tuple[CostTable, list[BuiltUnit]]:
    """The prices of GPU and units, with what the user has set."""
    own = {name for unit in units for name in unit.prices.coefficients}
    gpu = gpu.override({n: v for n, v in overrides.items() if n not in own})
    changed = [
        replace(
            unit, prices=unit.prices.override({n: v for n, v in overrides.items() if n in unit.prices.coefficients})
        )
        for unit in units
    ]
    return gpu, changed


def _charge(table: CostTable, name: str, component: str, quantity: float) -> Charge:
    price = table.coefficients[name]
    return Charge(name, component, quantity, price.value * quantity, price.low, price.high, price.trust)


def _event_charges(counters: Counters, table: CostTable, events: Iterable[Event]) -> list[Charge]:
    charges = []
    for event in events:
        quantity = sum(weight * counters.get(name, 0.0) for name, weight in event.counters.items())
        charges.append(_charge(table, event.coefficient, event.component, quantity))
    return charges


def _dram_background(counters: Counters, table: CostTable, seconds: float) -> list[Charge]:
    """Standby of all devices, by state. Without a count of open rows, rows count as open.

    A channel powers down with its rows as they are, so open rows stay open then (active power-down, IDD3P).
    """
    if table.dram.get("device") == "events":  # the column has it inside its constant power
        return []
    hertz, per_channel = table.dram["clock_mhz"] * 1e6, table.dram["devices_per_channel"]
    everything = table.dram["devices"] * seconds
    down = min(everything, counters.get("dram_powered_down_clocks", 0.0) / hertz * per_channel)
    opened = everything
    if "dram_row_open_clocks" in counters:
        opened = min(everything, counters["dram_row_open_clocks"] / hertz * per_channel)
    open_down = min(down, opened)
    open_up = min(opened - open_down, everything - down)
    times = {
        "dram_background_active": open_up,
        "dram_background_precharged": everything - down - open_up,
        "dram_background_active_power_down": open_down,
        "dram_background_power_down": down - open_down,
    }
    return [_charge(table, name, "dram.background", time) for name, time in times.items()]


def _gpu_static(table: CostTable, time: _Time, gpu_idle: str) -> list[Charge]:
    sm_count = table.design.sm_count if table.design is not None else 1
    active, running = time.active(sm_count), time.seconds - time.waiting
    seconds = dict.fromkeys(GPU_POWERS, time.seconds) | {
        "sm_leakage": running + time.waiting * (RETENTION if gpu_idle == "power_gate" else 1.0),
        "sm_clock": active,
        "sm_idle": running - active + (time.waiting if gpu_idle == "none" else 0.0),
    }
    return [_charge(table, name, component, seconds[name]) for name, component in GPU_POWERS.items()]


def _unit_static(unit: BuiltUnit, seconds: float) -> Charge:
    price = unit.prices.coefficients[UNIT_LEAKAGE]
    joules = unit.leakage_w * seconds
    name, component = f"{unit.name}_leakage", f"{unit.name}.leakage"
    return Charge(name, component, seconds, joules, price.low, price.high, price.trust)


def combine(reports: Iterable[EnergyReport]) -> EnergyReport:
    """One report for several parts of a run (launches, operations) on the same machine."""
    parts = list(reports)
    if len({(p.machine, p.units, p.gpu_idle) for p in parts}) != 1:
        raise CostError("only reports of one machine, one unit and one gpu_idle can be combined; group them first.")
    merged: dict[tuple[str, str], Charge] = {}
    for charge in (c for part in parts for c in part.charges):
        key = (charge.coefficient, charge.component)
        old = merged.get(key)
        quantity, joules = (old.quantity, old.joules) if old else (0.0, 0.0)
        quantity, joules = quantity + charge.quantity, joules + charge.joules
        merged[key] = Charge(*key, quantity, joules, charge.low, charge.high, charge.trust)
    totals = {mode: sum(part.energy_by_gpu_idle[mode] for part in parts) for mode in GPU_IDLE}
    first = parts[0]
    seconds = sum(part.seconds for part in parts)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return EnergyReport(first.machine, first.units, first.gpu_idle, seconds, tuple(merged.values()), totals, notes)
