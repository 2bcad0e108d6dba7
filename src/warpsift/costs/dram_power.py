"""Power of DRAM devices from their data-sheet currents (IDD), for GDDR5 and LPDDR4.

The method is Micron's (technical note TN-41-01; LPDDR4 calculator), as in DRAMPower and DRAMsim3: a command costs the
current that the sheet states while it is repeated, above the standby current, times voltage and time:

    activate and precharge   sum over rails of V (IDD0 tRC - IDD3N tRAS - IDD2N tRP)
    read, write              V (IDD4R - IDD3N), V (IDD4W - IDD3N), over the bits moved meanwhile
    refresh                  V (IDD5 - IDD2N) tRFC
    background               V IDD3N with a row open, V IDD2N with none, V IDD2P powered down

and the pins besides: for GDDR5 the direct current through driver and termination while a 0 is driven (both ends of
the wire, since one rail feeds both), for LPDDR4 the stated current of the output rail.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from warpsift.costs.cost_errors import CostNameError, CostTableError, unknown

STATES = ("active", "precharged", "active_power_down", "power_down", "self_refresh")
_STATE_CURRENT = dict(zip(STATES, ("idd3n_ma", "idd2n_ma", "idd3p_ma", "idd2p_ma", "idd6_ma"), strict=True))


@dataclass(frozen=True)
class Rail:
    """One supply of the device and the currents that the sheet states for it."""

    name: str
    voltage_v: float
    idd0_ma: float
    idd2p_ma: float
    idd2n_ma: float
    idd3p_ma: float
    idd3n_ma: float
    idd4r_ma: float
    idd4w_ma: float
    idd5_ma: float
    idd6_ma: float


@dataclass(frozen=True)
class Device:
    """One DRAM device: what its data sheet says."""

    name: str
    source: str
    trust: str
    device_bits: int
    data_rate_gbps: float
    tck_ns: float
    tras_cycles: int
    trp_cycles: int
    trfc_cycles: int
    trefi_cycles: int
    rails: tuple[Rail, ...]
    io: dict[str, Any]

    @property
    def bandwidth_gbps(self) -> float:
        """Peak, in gigabits per second."""
        return self.device_bits * self.data_rate_gbps


def device(name: str) -> Device:
    """A device of the tables: 'gddr5' or 'lpddr4'."""
    return _load(name)


@functools.cache
def _load(name: str) -> Device:
    folder = resources.files("warpsift.costs").joinpath("tables")
    known = [f.name[5:-5] for f in folder.iterdir() if f.name.startswith("dram_") and f.name.endswith(".toml")]
    if name not in known:
        raise CostNameError(unknown("DRAM device", name, known))
    data = tomllib.loads(folder.joinpath(f"dram_{name}.toml").read_text())
    try:
        rails = tuple(Rail(**rail) for rail in data.pop("rail"))
        return Device(rails=rails, **data)
    except (KeyError, TypeError) as error:
        raise CostTableError(f"dram_{name}.toml: {error}; compare it with the other dram_*.toml.") from error


def activate_nj(dram: Device) -> float:
    """Opening and closing one row."""
    tras, trp = dram.tras_cycles * dram.tck_ns, dram.trp_cycles * dram.tck_ns
    picojoules = sum(
        rail.voltage_v * (rail.idd0_ma * (tras + trp) - rail.idd3n_ma * tras - rail.idd2n_ma * trp)
        for rail in dram.rails
    )
    return picojoules / 1e3  # mA x V x ns = pJ


def _burst_pj_per_bit(dram: Device, current: str) -> float:
    milliwatts = sum(rail.voltage_v * (getattr(rail, current) - rail.idd3n_ma) for rail in dram.rails)
    return milliwatts / dram.bandwidth_gbps  # mW / (Gb/s) = pJ/bit


def read_pj_per_bit(dram: Device) -> float:
    """Column access of the core, without the pins."""
    return _burst_pj_per_bit(dram, "idd4r_ma")


def write_pj_per_bit(dram: Device) -> float:
    """Column access of the core, without the pins."""
    return _burst_pj_per_bit(dram, "idd4w_ma")


def io_pj_per_bit(dram: Device, write: bool = False) -> float:
    """Pins and termination, per data bit."""
    io = dram.io
    if io["kind"] == "current":
        milliwatts = io["vddq_v"] * (io["write_ma" if write else "read_ma"] - io["idle_ma"])
        return milliwatts / dram.bandwidth_gbps
    low_mw = 1e3 * io["vddq_v"] ** 2 / (io["driver_ohm"] + io["termination_ohm"])
    return low_mw * io["zero_fraction"] * io["pins_per_data_pin"] / dram.data_rate_gbps


def refresh_nj(dram: Device) -> float:
    """One all-bank refresh, above precharged standby (a sheet's IDD5 counts everything the device draws then)."""
    milliwatts = sum(rail.voltage_v * (rail.idd5_ma - rail.idd2n_ma) for rail in dram.rails)
    return milliwatts * dram.trfc_cycles * dram.tck_ns / 1e3


def background_w(dram: Device, state: str = "active") -> float:
    """What the device draws while nothing is asked of it."""
    if state not in _STATE_CURRENT:
        raise CostNameError(unknown("DRAM state", state, STATES))
    milliwatts = sum(rail.voltage_v * getattr(rail, _STATE_CURRENT[state]) for rail in dram.rails)
    if dram.io["kind"] == "current":
        milliwatts += dram.io["vddq_v"] * dram.io["idle_ma"]
    return milliwatts / 1e3


def peak_w(dram: Device) -> float:
    """Reading without pause at full rate, row hits only, refresh included."""
    bits_per_ns = dram.bandwidth_gbps
    moving = (read_pj_per_bit(dram) + io_pj_per_bit(dram)) * bits_per_ns / 1e3
    refreshing = refresh_nj(dram) / (dram.trefi_cycles * dram.tck_ns)
    return background_w(dram) + moving + refreshing


def total_pj_per_bit(dram: Device, bytes_per_activate: float, utilisation: float = 1.0) -> float:
    """All of a device's power over the bits read, at a row locality and a bus utilisation."""
    activate = activate_nj(dram) * 1e3 / (8 * bytes_per_activate)
    standing = background_w(dram) + refresh_nj(dram) / (dram.trefi_cycles * dram.tck_ns)
    background = standing * 1e3 / (dram.bandwidth_gbps * utilisation)
    return read_pj_per_bit(dram) + io_pj_per_bit(dram) + activate + background
