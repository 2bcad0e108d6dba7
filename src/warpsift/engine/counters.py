"""What leaves the engine: counters of a launch, by name, with the meaning of each name.

`Counters` reads like a dictionary and like an object (`c.l1_read_hits`, `c["l1_read_hits"]`); `describe(name)` says
what is counted. Sums over launches are `a + b`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warpsift.engine.dram import dram_state
from warpsift.engine.l1 import l1_state
from warpsift.engine.l2 import l2_state
from warpsift.engine.noc import ports as noc
from warpsift.engine.sm import sm_state

COMPONENTS: dict[str, dict[str, str]] = {
    "sm": sm_state.COUNTERS,
    "l1": l1_state.COUNTERS,
    "noc": noc.COUNTERS,
    "l2": l2_state.COUNTERS,
    "dram": dram_state.COUNTERS,
}

_OWN = {
    "cycles": "core cycles from the start of the launch to its end, launch overhead included",
    "launches": "kernel launches",
    "resident_warp_cycles": "sum over cycles and SMs of resident warps",
    "sm_active_cycles": "sum over SMs of cycles with at least one resident warp",
}
_DERIVED = {
    "l1_accesses": "line transactions of loads and stores at L1",
    "l2_accesses": "sectors read or written at L2",
    "l2_misses": "sectors that L2 did not hold",
    "instructions_per_cycle": "warp instructions per core cycle",
}
MEANING: dict[str, str] = {**_OWN, **{k: v for group in COMPONENTS.values() for k, v in group.items()}, **_DERIVED}


def is_peak(name: str) -> bool:
    """Whether a counter is the largest value seen, so that sums take the larger; all others add up."""
    return name.endswith("_peak")


def describe(name: str) -> str:
    """What a counter counts."""
    return MEANING[name]


class Counters(Mapping[str, int]):
    """Counters of one launch, or of several added up."""

    __slots__ = ("_values",)
    _values: dict[str, int]

    def __init__(self, values: Mapping[str, int]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __getitem__(self, name: str) -> int:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> int:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"no counter {name!r}; known are {', '.join(MEANING)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("counters cannot be changed")

    def __add__(self, other: Counters) -> Counters:
        return total_of((self, other))

    @property
    def l1_accesses(self) -> int:
        return self["l1_read_accesses"] + self["l1_bypassed_accesses"] + self["l1_write_accesses"]

    @property
    def l2_accesses(self) -> int:
        return self["l2_read_accesses"] + self["l2_write_accesses"]

    @property
    def l2_misses(self) -> int:
        return self["l2_read_misses"] + self["l2_write_misses"]

    @property
    def instructions_per_cycle(self) -> float:
        return self["warp_instructions"] / self["cycles"] if self["cycles"] else 0.0

    def __repr__(self) -> str:
        return f"Counters({self._values!r})"


def total_of(every: Iterable[Counters]) -> Counters:
    """Counters of several launches added up; of peaks the largest."""
    total: dict[str, int] = {}
    for counters in every:
        for name, value in counters._values.items():
            total[name] = max(total.get(name, 0), value) if is_peak(name) else total.get(name, 0) + value
    return Counters(dict(sorted(total.items())))
