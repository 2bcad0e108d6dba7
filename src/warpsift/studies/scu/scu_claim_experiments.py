"""Experiments on the SCU's missed claims; the runs are those of examples/scu_misses.toml and claims_scu.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from warpsift.studies.claim_experiments import Experiment, Measure, Repricing, Side
from warpsift.studies.scu import scu_fig12 as fig12
from warpsift.studies.scu.scu_claims import area, bandwidth, elements, instructions, saving, speedup
from warpsift.studies.scu.scu_runs import GPUS, best_unit
from warpsift.studies.stored_runs import Run, StoredRuns

AT_ONCE = {"scu.ideal_hash": True}
WITHOUT_LIMIT = {**AT_ONCE, "scu.inflight_requests": 0}
EIGHT_LANES = {"scu.width": 8, "noc.unit_ports": 9}
TABLES = {"scu.sssp_filter_bytes": 25165824, "scu.sssp_group_bytes": 20971520}
NO_HOLD = {"sm.atomics_block_warp": False}
SMALL_L2 = {"l2.size_bytes": 262144}
SLICES = {"l2.slices": 16}


def events(plain: Run, unit: Run) -> float:
    """Energy saved of what is not paid by time."""
    return float((plain["energy_joules"] - plain["static_joules"]) / (unit["energy_joules"] - unit["static_joules"]))


def compaction_alone(plain: Run, same: Run) -> float:
    """Share of the time in launches that only compact; the expansion, which compacts as it goes, is left out."""
    alone = sum(phase["cycles"] for phase in plain["phases"] if phase["phase"] in ("compact", "filter"))
    return float(alone / sum(phase["cycles"] for phase in plain["phases"]))


def compaction_whole(plain: Run, same: Run) -> float:
    parts = sum(phase["cycles"] for phase in plain["phases"] if phase["compaction"])
    return float(parts / sum(phase["cycles"] for phase in plain["phases"]))


def lines(only: Run, both: Run) -> float:
    return fig12.lines(only) / fig12.lines(both)


def sectors(only: Run, both: Run) -> float:
    return fig12.sectors(only) / fig12.sectors(both)


def _unit(
    claim: str, case: tuple[str, str, str], unit: str, change: str, overrides: Mapping[str, Any],
    measure: Measure = speedup,
) -> Experiment:  # fmt: skip
    """The run with the unit is changed."""
    plain = Side("none")
    return Experiment(claim, case, change, measure, (plain, Side(unit)), (plain, Side(unit, {"overrides": overrides})))


def _events_alone(claim: str, case: tuple[str, str, str], unit: str) -> Experiment:
    """The energy of the same runs without what is paid by time."""
    sides = (Side("none"), Side(unit))
    return Experiment(claim, case, "nothing is paid by time", saving, sides, sides, events)


def _both(
    claim: str, case: tuple[str, str, str], unit: str, change: str, overrides: Mapping[str, Any], measure: Measure
) -> Experiment:
    """The GPU is changed, in both runs."""
    changed = (Side("none", {"overrides": overrides}), Side(unit, {"overrides": overrides}))
    return Experiment(claim, case, change, measure, (Side("none"), Side(unit)), changed)


def _plain(claim: str, case: tuple[str, str, str], unit: str, change: str) -> Experiment:
    """The plain GPU's atomics do not hold their warp."""
    held, free = Side("none"), Side("none", {"overrides": NO_HOLD})
    return Experiment(claim, case, change, speedup, (held, Side(unit)), (free, Side(unit)))


_SPLIT = Side("none", {"split_kernels": True, "filter_kernel": False})
_FILTERS = Side("scu", {"overrides": fig12.FILTER_ONLY})
_BOTH = Side("scu")

EXPERIMENTS = (
    *(
        _unit(f"speedup, bfs on {gpu}", ("bfs", gpu, graph), "scu", "the hash answers at once", AT_ONCE)
        for gpu in ("gtx980", "tx1")
        for graph in ("cond", "kron", "human")
    ),
    _unit(
        "speedup, bfs on tx1", ("bfs", "tx1", "cond"), "scu", "and any number of requests is under way", WITHOUT_LIMIT
    ),
    *(
        _unit(f"speedup, sssp on {gpu}", ("sssp", gpu, "cond"), "scu", change, overrides)
        for gpu in ("gtx980", "tx1")
        for change, overrides in (
            ("the hash answers at once", AT_ONCE),
            ("and any number of requests is under way", WITHOUT_LIMIT),
        )
    ),
    _plain("speedup, pagerank on tx1", ("pagerank", "tx1", "cond"), "scu-basic", "atomics do not hold their warp"),
    *(
        _unit(f"basic unit, {name} on gtx980", (name, "gtx980", graph), "scu-basic", "8 lanes, not 4", EIGHT_LANES)
        for name, graph in (("sssp", "cond"), ("bfs", "cond"), ("bfs", "kron"), ("bfs", "human"))
    ),
    _unit(
        "workload left, sssp", ("sssp", "tx1", "cond"), "scu", "tables of 24 and 20 MB, not 192 and 144 KB", TABLES,
        elements,
    ),
    Experiment(
        "GPU instructions removed, bfs on tx1", ("bfs", "tx1", "cond"), "of the basic unit's, not the plain GPU's",
        instructions, (Side("none"), _BOTH), (Side("scu-basic"), _BOTH),
    ),
    Experiment(
        "coalescing gained by grouping, sssp on tx1", ("sssp", "tx1", "cond"), "sectors are counted, not lines",
        lines, (_FILTERS, _BOTH), (_FILTERS, _BOTH), sectors,
    ),
    *(
        Experiment(
            "share of time in compaction", (name, "gtx980", "cond"), "the expansion's launches are not counted",
            compaction_whole, (side, side), (side, side), compaction_alone,
        )
        for name, side in (("bfs", _SPLIT), ("sssp", Side("none")))
    ),
    *(
        _events_alone(f"energy reduction, {name} on {gpu}", (name, gpu, graph), best_unit(name))
        for name, gpu, graph in (
            ("bfs", "gtx980", "cond"), ("bfs", "gtx980", "kron"), ("sssp", "gtx980", "cond"),
            ("pagerank", "gtx980", "cond"), ("bfs", "tx1", "cond"), ("sssp", "tx1", "cond"),
        )
    ),
    *(
        _events_alone(f"basic unit, energy reduction, {name} on {gpu}", (name, gpu, "cond"), "scu-basic")
        for name, gpu in (("bfs", "gtx980"), ("sssp", "gtx980"), ("sssp", "tx1"))
    ),
    *(
        _both(
            "bandwidth used, bfs on gtx980", ("bfs", "gtx980", graph), "scu", "an L2 of 256 KB, not 2 MB", SMALL_L2,
            bandwidth,
        )
        for graph in ("cond", "delaunay")
    ),
    *(
        _both(claim, (name, "gtx980", "cond"), unit, "an L2 in 16 slices, not 4", SLICES, speedup)
        for claim, name, unit in (
            ("basic unit, sssp on gtx980", "sssp", "scu-basic"),
            ("basic unit, bfs on gtx980", "bfs", "scu-basic"),
            ("speedup, bfs on gtx980", "bfs", "scu"),
        )
    ),
)  # fmt: skip


def _shift_registers(gpu: str, runs: StoredRuns) -> float:
    return area(gpu, runs, "shift_register").value


# Of the buffers' storage the least: words leave in the order in which they came (docs/area.md: too little for replies
# in any order)
REPRICINGS = tuple(
    Repricing(
        f"area on {gpu}, mm2",
        "shift registers: no multiplexers that read any word",
        partial(_shift_registers, gpu),
    )
    for gpu in GPUS
)
