"""Equal area: what each contender of "which unit suits which graph?" is, and how it spends the common area.

The rule, the same for all, in this order:

1. A unit is built as a designer of today would on that GPU, from structures that its page has measured: see `DESIGNS`.
2. The common area is that of the largest contender on the GPU.
3. What a contender leaves of it becomes L2 ways, to the nearest way; the plain GPU makes L2 ways of all of it.

Crossbar ports are in nobody's area: the SCU's lanes have a hash port each, which counts in its favour.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from warpsift.costs.cacti_table import figures as cacti_figures
from warpsift.machines import load_machine
from warpsift.units import resolve

Settings = Mapping[str, str]


@dataclass(frozen=True)
class Contender:
    """A unit, the letter that stands for it in the figure, and its letters' meaning."""

    letter: str
    unit: str  # what --unit says; PageRank neither filters nor groups, so there it may be another
    pagerank: str | None = None
    algorithms: tuple[str, ...] = ("bfs", "sssp", "pagerank")
    may_miss: bool = False  # a pair counts without its run, too

    def unit_for(self, algorithm: str) -> str:
        return self.pagerank if algorithm == "pagerank" and self.pagerank else self.unit


# scu-slice is the SCU where nothing is filtered, and scu+mff the MFF where no vertices are scheduled: PageRank. In WCC
# only the MFF runs. On cond, delaunay@1/8 and dblp-2010 (GTX 980) label propagation on the SCU or scu-slice takes 18 to
# 96 times as long as pointer jumping on the plain GPU, and scu+mff 0.98 to 1.17 times as long as the MFF.
TRAVERSALS = ("bfs", "sssp")
CONTENDERS = {
    "SCU": Contender("S", "scu", pagerank="scu-basic"),
    "scu-slice": Contender("L", "scu-slice", algorithms=TRAVERSALS),
    "IRU": Contender("I", "iru"),
    "MFF": Contender("M", "mff", algorithms=("bfs", "sssp", "pagerank", "wcc")),
    "scu+mff": Contender("B", "scu+mff", algorithms=TRAVERSALS),
    "ISCU": Contender("N", "iscu", may_miss=True),
}


def lanes(width: int) -> dict[str, str]:
    """Every lane with the buffers of the SCU paper's table 1 and a hash port of its own (docs/scu.md: readings)."""
    return {"scu.width": str(width), "scu.resources": "lane", "noc.unit_ports": str(1 + width)}


# Twice the width that the paper has on its two GPUs; on the A100 the widest that the hardware is described for (16, the
# FIFO at its bound), four times the paper's.
_SCU = {
    "gtx980": lanes(8),
    "tx1": lanes(2),
    "a100": {**lanes(16), "scu.fetch_fifo_bytes": "32768"},
}
# docs/scu-slice.md: eight lanes and more want 64 sets at each slice
_MORE_SETS = {"scu_slice.sets_per_slice": "64", "scu_slice.probes_per_slice": "256"}
# A bank of registers for each issue engine, as its area counts them, and four words a reply, as a flit holds them
_MFF = {"mff.ports": "engine", "mff.words_per_reply": "4"}
# The A100 has seven times the SMs of the paper's GTX 480: as many engines as the model has, four times the registers
_LARGE_MFF = {**_MFF, "mff.issue_engines": "64", "mff.work_registers": "32768"}
_MFF_OF = {"gtx980": _MFF, "tx1": _MFF, "a100": _LARGE_MFF}
# 64 entries at each slice; the TX1 has a quarter of the GTX 980's slices, so four times the entries (docs/iru.md)
_IRU = {"gtx980": {}, "tx1": {"iru.hash_entries": "256"}, "a100": {}}
# As many lanes as the SCU, on the A100 four: its 80 parts leave no room for more in the common area
_ISCU = {"gtx980": lanes(8), "tx1": lanes(2), "a100": lanes(4)}
GPUS = tuple(_SCU)


def design(contender: str, gpu: str) -> dict[str, str]:
    """What is set in the machine for a contender's unit, its L2 aside."""
    slices = {**_SCU[gpu], **(_MORE_SETS if gpu != "tx1" else {})}
    settings: dict[str, dict[str, str]] = {
        "SCU": _SCU[gpu],
        "scu-slice": slices,
        "IRU": _IRU[gpu],
        "MFF": _MFF_OF[gpu],
        "scu+mff": {**_SCU[gpu], **_MFF_OF[gpu]},
        "ISCU": _ISCU[gpu],
    }
    return settings[contender]


@functools.cache
def unit_mm2(contender: str, gpu: str) -> float:
    """mm2 at 32 nm."""
    unit = resolve(CONTENDERS[contender].unit)
    assert unit is not None
    return unit.area(load_machine(gpu, design(contender, gpu))).total_mm2


@functools.cache
def way_mm2(gpu: str) -> float:
    """mm2 at 32 nm of one way of the GPU's L2 (CACTI 7)."""
    l2 = load_machine(gpu).l2
    slice_mm2 = cacti_figures("cache", l2.size_bytes // l2.slices, 256, 32, l2.ways).area_mm2
    return slice_mm2 * l2.slices / l2.ways


def common_mm2(gpu: str) -> float:
    return max(unit_mm2(contender, gpu) for contender in CONTENDERS)


def extra_ways(taken_mm2: float, gpu: str) -> int:
    """L2 ways that fit beside what a contender takes of the common area, to the nearest."""
    return round((common_mm2(gpu) - taken_mm2) / way_mm2(gpu))


def with_ways(more: int, gpu: str) -> dict[str, str]:
    """The L2 with so many more ways."""
    l2 = load_machine(gpu).l2
    ways = l2.ways + more
    return {"l2.ways": str(ways), "l2.size_bytes": str(l2.size_bytes // l2.ways * ways)}


def machine_of(contender: str | None, gpu: str) -> dict[str, str]:
    """All that is set for a contender, or for the plain GPU (None), at equal area."""
    taken = 0.0 if contender is None else unit_mm2(contender, gpu)
    own = {} if contender is None else design(contender, gpu)
    return {**own, **with_ways(extra_ways(taken, gpu), gpu)}


def area_note(gpu: str) -> str:
    """The rule at work, in a sentence."""
    spent = ", ".join(
        f"{name} {unit_mm2(name, gpu):.2f} + {extra_ways(unit_mm2(name, gpu), gpu)} ways" for name in CONTENDERS
    )
    return (
        f"Equal area on {gpu}, about {common_mm2(gpu):.1f} mm2 at 32 nm: {spent}, or {extra_ways(0.0, gpu)} L2 ways "
        f"({way_mm2(gpu):.2f} each) for the plain GPU."
    )
