"""What a cost table was made for, and its powers for another design: more SMs, another L2, more channels.

Static power is paid by what is there: leakage and clocks by SM, leakage of the L2 by byte, the memory interface and
the DRAM devices by channel; the board and the rest of the chip are constant. A table says in `[design]` for which
numbers its watts hold. What a table cannot follow (another voltage, another array behind a price per access) is said
in words, `notes`, and printed with the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpsift.costs.coefficients import CostTable
    from warpsift.machines import Machine


@dataclass(frozen=True)
class Design:
    """The numbers of a machine that its prices depend on."""

    sm_count: int
    l2_bytes: int
    channels: int
    core_mhz: float
    l1_bytes: int
    l2_slice_bytes: int
    dram_kind: str
    dram_access_bytes: int  # of one column command

    @classmethod
    def of(cls, machine: Machine) -> Design:
        return cls(
            sm_count=machine.sm.count,
            l2_bytes=machine.l2.size_bytes,
            channels=machine.dram.channels,
            core_mhz=machine.clocks.core_mhz,
            l1_bytes=machine.l1.size_bytes,
            l2_slice_bytes=machine.l2.size_bytes // machine.l2.slices,
            dram_kind=machine.dram.kind,
            dram_access_bytes=machine.dram.burst_bytes,
        )


KEYS = {field.name for field in fields(Design)}
FOLLOWS = {  # power -> what it grows with; the others are constant
    "sm_leakage": ("sm_count",),
    "sm_clock": ("sm_count", "core_mhz"),  # C V^2 f at the table's voltage
    "sm_idle": ("sm_count", "core_mhz"),
    "l2_leakage": ("l2_bytes",),
    "memory_interface": ("channels",),
}
_MACHINE_KEY = {
    "sm_count": "sm.count",
    "l2_bytes": "l2.size_bytes",
    "channels": "dram.channels",
    "core_mhz": "clocks.core_mhz",
}
_PER_COLUMN = ("dram_read", "dram_write", "dram_io_read", "dram_io_write")


def scaled(table: CostTable, design: Design | None) -> tuple[CostTable, tuple[str, ...]]:
    """The table with its powers, and its prices per DRAM column, for a design; and what it could not follow."""
    own = table.design
    if design is None or own is None:
        return table, ()
    changed = dict(table.coefficients)
    for name, keys in FOLLOWS.items():
        factor = 1.0
        for key in keys:
            factor *= getattr(design, key) / getattr(own, key)
        if factor != 1.0:
            how = f"{changed[name].how}, x {factor:.4g} for this design"
            changed[name] = replace(changed[name], value=changed[name].value * factor, how=how)
    if table.dram.get("device") != "events":
        for name in _PER_COLUMN:
            factor = design.dram_access_bytes / own.dram_access_bytes
            changed[name] = replace(changed[name], value=changed[name].value * factor)
    dram = dict(table.dram)
    if "devices" in dram:
        dram["devices"] = dram["devices"] * design.channels / own.channels
    return replace(table, coefficients=changed, dram=dram, design=design), tuple(_not_followed(table, own, design))


def _not_followed(table: CostTable, own: Design, design: Design) -> Iterator[str]:
    for power, keys in FOLLOWS.items():
        if table.coefficients[power].value == 0.0:
            for key in keys[:1]:
                if getattr(design, key) != getattr(own, key):
                    yield (
                        f"{_MACHINE_KEY[key]} = {getattr(design, key)} (prices: {getattr(own, key)}): {power} of "
                        f"{table.name} does not follow, it is {table.coefficients[power].source}"
                    )
    if design.core_mhz != own.core_mhz:
        yield (
            f"clocks.core_mhz = {design.core_mhz:g} (prices: {own.core_mhz:g}): clock power follows the clock; leakage "
            f"and energies per event stay those of {table.voltage_v:g} V, since no voltage curve is known"
        )
    if design.l1_bytes != own.l1_bytes:
        yield f"l1.size_bytes = {design.l1_bytes}: an L1 access is priced as one of {own.l1_bytes} bytes"
    if design.l2_slice_bytes != own.l2_slice_bytes:
        yield f"an L2 slice of {design.l2_slice_bytes} bytes: an access is priced as one of {own.l2_slice_bytes} bytes"
    if design.dram_kind != own.dram_kind:
        yield f"dram.kind = {design.dram_kind!r}: memory is priced as {own.dram_kind!r}"
