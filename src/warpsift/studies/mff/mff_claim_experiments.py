"""Experiments on the MFF's missed claims; the runs are those of examples/mff_misses.toml and claims_mff.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpsift.studies.claim_experiments import Experiment, Repricing, Side
from warpsift.studies.larger_l1_price import price_of_l1
from warpsift.studies.mff.mff_claims import TIMES_L1, compute_joules_of, speedup, stalls, traffic, watts
from warpsift.studies.stored_runs import Run

GRAPH = "dblp-2010"
L1_BYTES = 16384  # of the GTX 480 (table 1)
LARGER = {"l1.size_bytes": TIMES_L1 * L1_BYTES}
NO_HOLD = {"sm.atomics_block_warp": False}


def of_the_units_speedup(larger: Run, unit: Run) -> float:
    return 1 / speedup(larger, unit)


def traffic_saved(plain: Run, unit: Run) -> float:
    return 1 - traffic(unit) / traffic(plain)


def stalls_saved(plain: Run, unit: Run) -> float:
    return 1 - stalls(unit) / max(stalls(plain), 1)


def core_power(plain: Run, unit: Run) -> float:
    return watts("core", unit) / watts("core", plain)


def core_energy(plain: Run, unit: Run) -> float:
    return compute_joules_of("core", unit) / compute_joules_of("core", plain)


def _plain(**asked: Any) -> Side:
    return Side("none", {"style": "vertex", **asked})


def _larger_l1(change: str, overrides: Mapping[str, Any], **asked: Any) -> Experiment:
    case = ("bfs", "gtx480", GRAPH)
    sides = (_plain(overrides=LARGER), Side("mff"))
    changed = (
        _plain(overrides={**LARGER, **overrides}, **asked),
        Side("mff", {"overrides": overrides, **asked} if overrides else asked),
    )
    return Experiment("16 x L1 instead: of the unit's speedup", case, change, of_the_units_speedup, sides, changed)


def _case(algorithm: str) -> tuple[str, str, str]:
    return (algorithm, "gtx480", GRAPH)


EXPERIMENTS = (
    _larger_l1("atomics do not hold their warp", NO_HOLD),
    _larger_l1("a byte per vertex, not an atomic bit", {}, bit_setting="byte"),
    *(
        Experiment(
            "memory traffic saved", _case(name), "48 warps per SM, not 12", traffic_saved,
            (_plain(), Side("mff")), (_plain(occupancy="full"), Side("mff", {"occupancy": "full"})),
        )
        for name in ("pagerank", "bfs")
    ),
    *(
        Experiment(
            "interconnect stalls saved (reply network, L2 input)", _case(name), "four words per reply, not one",
            stalls_saved, (_plain(), Side("mff")), (_plain(), Side("mff")), reading="authors-4-words",
        )
        for name in ("pagerank", "bfs")
    ),
    *(
        Experiment(
            "power of core", _case(name), "energy is counted, not power", core_power, (_plain(), Side("mff")),
            (_plain(), Side("mff")), core_energy,
        )
        for name in ("pagerank", "bfs")
    ),
)  # fmt: skip

REPRICINGS = (
    Repricing("16 x L1: active power", "at 45 nm, not 32", lambda runs: price_of_l1(node_nm=45)["active_power"]),
)
