"""The MFF paper's claims (DATE 2015), each as a function of stored runs; all are of the compute stage (section 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.engine.counters import Counters, total_of
from warpsift.machines import load_machine
from warpsift.run.interconnect import simulator_stalls
from warpsift.run.request import Request
from warpsift.store.rows import geometric_mean
from warpsift.studies.asked_machine import machine_of
from warpsift.studies.claim import Claim
from warpsift.studies.larger_l1_price import price_of_l1
from warpsift.studies.mff import mff_caches as caches
from warpsift.studies.mff import mff_fig10 as fig10
from warpsift.studies.mff.mff_measurements import power_by_part
from warpsift.studies.mff.mff_runs import ALGORITHMS, GPU, GRAPHS, LIMITS
from warpsift.studies.stored_runs import Measured, Run, StoredRuns, over_graphs
from warpsift.studies.window_study import PAPER_REDUCTION, traffic_of
from warpsift.units import unit_named

AREA = 0.87  # mm2, section 6.2
ENERGY_SAVED, TRAFFIC_SAVED, STALLS_SAVED = 0.546, 0.275, 0.883  # section 6.2, averages
TIMES_L1 = 16
((WINDOW_GRAPH, WINDOW), WINDOW_SAVES), *_ = PAPER_REDUCTION.items()
Wanted = Callable[[str, int], Sequence[Request]]


def request(runs: StoredRuns, algorithm: str, graph: str, unit: str, seed: int, **changes: Any) -> Request:
    """One run in the vertex style, with as many super-steps as are timed."""
    limit = {"max_iterations": LIMITS[algorithm]} if algorithm in LIMITS else {}
    style = {} if unit != "none" else {"style": "vertex"}
    return runs.request(algorithm, graph, GPU, unit, seed=seed, **style, **limit | changes)


def pair(runs: StoredRuns, algorithm: str) -> Wanted:
    return lambda graph, seed: [request(runs, algorithm, graph, unit, seed) for unit in ("none", "mff")]


def compute(run: Run) -> Counters:
    """The counters of the compute stage."""
    return total_of(Counters(phase["counters"]) for phase in _compute_phases(run))


def _compute_phases(run: Run) -> list[Run]:
    return [phase for phase in run["phases"] if phase["phase"] == COMPUTE_PHASE]


def _joules(run: Run) -> float:
    return float(sum(phase["energy_joules"] for phase in _compute_phases(run)))


def _seconds(run: Run) -> float:
    return float(sum(phase["seconds"] for phase in _compute_phases(run)))


def speedup(plain: Run, unit: Run) -> float:
    return compute(plain).cycles / max(compute(unit).cycles, 1)


def at_floor(plain: Run, unit: Run) -> float:
    return _seconds(plain) / max(unit["unit_floor_seconds"], 1e-12)


def compared(algorithm: str, measure: Callable[..., float], bound: Any, runs: StoredRuns) -> Measured | None:
    return over_graphs(runs, GRAPHS, pair(runs, algorithm), measure, bound)


def stalls(run: Run) -> int:
    found = simulator_stalls(compute(run))
    return found["reply_network"] + found["l2_input"]


def traffic(run: Run) -> int:
    total = compute(run)
    return total.dram_reads + total.dram_writes


def together(of: Callable[[Run], float], runs: StoredRuns) -> Measured | None:
    """One minus (all runs with the unit, summed) over (all plain ones): some runs hardly stall at all."""
    sums: dict[str, list[float]] = {}
    for algorithm in ALGORITHMS:
        for graph in GRAPHS:
            name, found = runs.pairs(graph, pair(runs, algorithm))
            for plain, unit in found:
                known = sums.setdefault(f"{algorithm} {name}", [0.0, 0.0])
                known[0] += of(plain)
                known[1] += of(unit)
    if not sums:
        return None
    total = [sum(each[k] for each in sums.values()) for k in (0, 1)]
    return Measured(1 - total[1] / max(total[0], 1e-12), {k: 1 - v[1] / max(v[0], 1e-12) for k, v in sums.items()})


def between(algorithm: str, runs: StoredRuns) -> Measured | None:
    """SSSP and WCC lie between PageRank and BFS: the share of the way from the one to the other, on a log scale."""
    return compared(algorithm, speedup, at_floor, runs)


def larger_l1(runs: StoredRuns) -> Measured | None:
    """A 16 times larger L1 instead of the unit: its speedup over the unit's, over the four algorithms."""
    shares: dict[str, float] = {}
    for algorithm in ALGORITHMS:

        def wanted(graph: str, seed: int, algorithm: str = algorithm) -> list[Request]:
            larger = request(runs, algorithm, graph, "none", seed, overrides=l1_override(runs))
            return [larger, request(runs, algorithm, graph, "mff", seed)]

        found = over_graphs(runs, GRAPHS, wanted, lambda large, unit: 1 / speedup(large, unit))
        if found is not None:
            shares[algorithm] = found.value
    return Measured(geometric_mean(shares.values()), shares) if len(shares) == len(ALGORITHMS) else None


def window_saves(runs: StoredRuns) -> Measured | None:
    """Of PageRank's requests for C and V that leave the L1, what a window of 16 operations saves (Fig. 5)."""

    def wanted(graph: str, seed: int) -> list[Request]:
        return [
            request(runs, "pagerank", graph, "none", seed, max_iterations=1, temporal_window=w) for w in (1, WINDOW)
        ]

    return over_graphs(
        runs,
        [WINDOW_GRAPH],
        wanted,
        lambda plain, merged: 1 - traffic_of(merged)["after_l1"] / traffic_of(plain)["after_l1"],
        geometric=False,
    )


def l1_override(runs: StoredRuns) -> dict[str, Any]:
    machine = runs.request("pagerank", "grid-3x3", GPU, "mff").gpu
    return {"l1.size_bytes": TIMES_L1 * load_machine(str(machine)).l1.size_bytes}


def compute_joules(run: Run) -> dict[str, float]:
    """Joules of the compute stage by component."""
    joules: dict[str, float] = {}
    for phase in _compute_phases(run):
        for name, value in phase["energy_by_component"].items():
            joules[name] = joules.get(name, 0.0) + value
    return joules


def watts(part: str, run: Run) -> float:
    """Of a part of Fig. 9, in the compute stage."""
    return power_by_part(compute_joules(run), _seconds(run))[part]


def compute_joules_of(part: str, run: Run) -> float:
    return watts(part, run) * _seconds(run)


def power(part: str, runs: StoredRuns) -> Measured | None:
    """Watts of a part in the compute stage, with the unit over those of the plain GPU."""
    ratios = {}
    for algorithm in ALGORITHMS:
        found = over_graphs(
            runs, GRAPHS, pair(runs, algorithm), lambda plain, unit: watts(part, unit) / watts(part, plain)
        )
        if found is not None:
            ratios[algorithm] = found.value
    return Measured(geometric_mean(ratios.values()), ratios) if ratios else None


def area(runs: StoredRuns) -> Measured | None:
    """Storage alone, as CACTI's figure in the paper; needs no run."""
    asked = runs.request("bfs", "grid-3x3", GPU, "mff")
    return Measured(unit_named("mff").area(machine_of(asked)).storage_mm2, {})


def price(what: str, runs: StoredRuns) -> Measured | None:
    return Measured(price_of_l1(TIMES_L1)[what.replace(" ", "_")], {})


CLAIMS = (
    Claim(
        "mff",
        "speedup, pagerank",
        "Fig. 10",
        fig10.PAPER["pagerank"],
        partial(compared, "pagerank", speedup, at_floor),
        tag="PageRank speedup",
    ),
    Claim(
        "mff",
        "speedup, bfs",
        "Fig. 10",
        fig10.PAPER["bfs"],
        partial(compared, "bfs", speedup, at_floor),
        tag="BFS speedup",
    ),
    *(
        Claim(
            "mff",
            f"speedup, {name}",
            "Fig. 10, between",
            fig10.PAPER["pagerank"],
            partial(between, name),
            upper=fig10.PAPER["bfs"],
        )
        for name in ("sssp", "wcc")
    ),
    Claim(
        "mff",
        f"requests saved by a window of {WINDOW}, pagerank",
        "Fig. 5",
        WINDOW_SAVES,
        window_saves,
        0.0,
        share=True,
        cause="L1",
    ),
    Claim(
        "mff",
        "energy saved",
        "Fig. 8",
        ENERGY_SAVED,
        partial(together, _joules),
        0.0,
        share=True,
        cause="time",
    ),
    Claim(
        "mff",
        "memory traffic saved",
        "section 6.2",
        TRAFFIC_SAVED,
        partial(together, traffic),
        0.0,
        share=True,
        cause="warps",
    ),
    Claim(
        "mff",
        "interconnect stalls saved (reply network, L2 input)",
        "section 6.2",
        STALLS_SAVED,
        partial(together, stalls),
        0.0,
        share=True,
        tag="stalls",
        cause="replies",
    ),
    Claim(
        "mff",
        "16 x L1 instead: of the unit's speedup",
        "section 6.2",
        caches.PAPER_SHARE,
        larger_l1,
        tag="16 x L1",
        cause="atomics",
    ),
    *(
        Claim(
            "mff",
            f"power of {part}",
            "Fig. 9",
            1.1 if part == "memory" else 0.9,
            partial(power, part),
            only_direction=True,
            cause="time",
        )
        for part in ("memory", "core", "noc")
    ),
    *(
        Claim("mff", f"16 x L1: {what}", "section 6.2", value, partial(price, what), cause="CACTI 7")
        for what, value in caches.PAPER_PRICE.items()
    ),
    Claim("mff", "area, mm2", "section 6.2", AREA, area, 0.0, tag="area", cause="layout"),
)


def requests(runs: StoredRuns, graph: str, algorithm: str, seed: int) -> list[Request]:
    """All runs that the claims need of one graph, algorithm and source."""
    found = list(pair(runs, algorithm)(graph, seed))
    return [*found, request(runs, algorithm, graph, "none", seed, overrides=l1_override(runs))]
