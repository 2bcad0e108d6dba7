"""The SCU paper's claims (ISCA 2019), each as a function of stored runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from warpsift.run.request import Request
from warpsift.store.rows import geometric_mean
from warpsift.studies.asked_machine import machine_of
from warpsift.studies.claim import Claim
from warpsift.studies.scu import scu_fig01 as fig01
from warpsift.studies.scu import scu_fig09 as fig09
from warpsift.studies.scu import scu_fig10 as fig10
from warpsift.studies.scu import scu_fig11 as fig11
from warpsift.studies.scu import scu_fig12 as fig12
from warpsift.studies.scu import scu_workload as workload
from warpsift.studies.scu.scu_runs import ALGORITHMS, GPUS, GRAPHS, best_unit
from warpsift.studies.stored_runs import Measured, Run, StoredRuns, over_graphs
from warpsift.units import unit_named

ENERGY_AVERAGE = {"gtx980": 6.55, "tx1": 3.24}  # section 6.1
AREA = {"gtx980": 13.27, "tx1": 3.65}  # section 6.4, mm2
Wanted = Callable[[str, int], Sequence[Request]]


def pair(runs: StoredRuns, algorithm: str, gpu: str, unit: str) -> Wanted:
    """The plain run and the run with the unit, by graph and seed; PageRank has no source."""

    def wanted(graph: str, seed: int) -> list[Request]:
        return [runs.request(algorithm, graph, gpu, name, seed=seed) for name in ("none", unit)]

    return wanted


def speedup(plain: Run, unit: Run) -> float:
    return float(plain["seconds"] / unit["seconds"])


def at_floor(plain: Run, unit: Run) -> float:
    return float(plain["seconds"] / (unit["gpu_seconds"] + unit["unit_floor_seconds"]))


def saving(plain: Run, unit: Run) -> float:
    """Energy of the plain GPU over that with the unit, as the reading gates the SMs."""
    return float(plain["energy_joules"] / unit["energy_joules"])


def compared(
    measure: Callable[..., float], gpu: str, algorithm: str, unit: str, bound: Any, runs: StoredRuns
) -> Measured | None:
    return over_graphs(runs, GRAPHS, pair(runs, algorithm, gpu, unit), measure, bound)


def share_of(measure: Callable[..., float], gpu: str, algorithm: str, runs: StoredRuns) -> Measured | None:
    """The mean of shares is arithmetic: a graph of which next to nothing is left must not decide it."""
    return over_graphs(runs, GRAPHS, pair(runs, algorithm, gpu, "scu"), measure, geometric=False)


def averaged(measure: Callable[..., float], gpu: str, bound: Any, runs: StoredRuns) -> Measured | None:
    """The mean over the three algorithms; only where all of them were run."""
    found = [compared(measure, gpu, algorithm, best_unit(algorithm), bound, runs) for algorithm in ALGORITHMS]
    if any(each is None for each in found):
        return None
    parts = {a: each.value for a, each in zip(ALGORITHMS, found, strict=True) if each is not None}
    bounds = [each.bound for each in found if each is not None and each.bound is not None]
    return Measured(geometric_mean(parts.values()), parts, geometric_mean(bounds) if len(bounds) == 3 else None)


def compaction(column: str, runs: StoredRuns) -> Measured | None:
    """Share of the plain GPU's time or energy in compaction, over algorithms and GPUs."""
    shares: dict[str, float] = {}
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            found = over_graphs(runs, GRAPHS, _split(runs, algorithm, gpu), partial(_share, column), geometric=False)
            if found is not None:
                shares[f"{algorithm} {gpu}"] = found.value
    return Measured(statistics.fmean(shares.values()), shares) if shares else None


def _split(runs: StoredRuns, algorithm: str, gpu: str) -> Wanted:
    """The plain run that shows compaction's share: BFS with its kernels split, as the paper's Fig. 1."""
    changes = fig01.split_kernels(algorithm)
    return lambda graph, seed: [runs.request(algorithm, graph, gpu, "none", seed=seed, **changes)]


def _share(column: str, run: Run) -> float:
    return fig01.share(run, column)


def elements_left(algorithm: str, runs: StoredRuns) -> Measured | None:
    """Elements that the GPU works on, with the unit over plain; both GPUs."""
    found = {gpu: share_of(elements, gpu, algorithm, runs) for gpu in GPUS}
    known = {gpu: each.value for gpu, each in found.items() if each is not None}
    return Measured(statistics.fmean(known.values()), known) if known else None


def elements(plain: Run, unit: Run) -> float:
    return workload.elements(unit) / workload.elements(plain)


def instructions(plain: Run, unit: Run) -> float:
    return float(1 - unit["warp_instructions"] / plain["warp_instructions"])


def bandwidth(plain: Run, unit: Run) -> float:
    return float(unit["bandwidth_utilisation"] / plain["bandwidth_utilisation"])


def grouping(runs: StoredRuns) -> Measured | None:
    """Transactions per memory instruction, filtering only over filtering and grouping."""

    def wanted(graph: str, seed: int) -> list[Request]:
        only = runs.request("sssp", graph, "tx1", "scu", seed=seed, overrides=fig12.FILTER_ONLY)
        return [only, runs.request("sssp", graph, "tx1", "scu", seed=seed)]

    return over_graphs(runs, GRAPHS, wanted, lambda only, both: fig12.lines(only) / fig12.lines(both))


def area(gpu: str, runs: StoredRuns, storage: str = "flip_flop") -> Measured:
    """Buffers of flip-flops, once per lane if the reading says so; needs no run."""
    asked = runs.request("bfs", "grid-3x3", gpu, "scu")
    return Measured(unit_named("scu").area(machine_of(asked), storage=storage).total_mm2, {})


def _of_gpus() -> list[Claim]:
    claims = []
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            unit = best_unit(algorithm)
            paper = fig10.PAPER.get((gpu, algorithm))
            measure = partial(compared, speedup, gpu, algorithm, unit, at_floor)
            claims.append(
                Claim("scu", f"speedup, {algorithm} on {gpu}", "Fig. 10", paper or 0.95, measure,
                      only_direction=paper is None)
            )  # fmt: skip
            saved = partial(compared, saving, gpu, algorithm, unit, None)
            stated = fig09.PAPER[gpu, algorithm]
            claims.append(
                Claim(
                    "scu",
                    f"energy reduction, {algorithm} on {gpu}",
                    "Fig. 9",
                    stated,
                    saved,
                    tag="energy",
                    cause="time",
                )
            )
        claims.append(
            Claim("scu", f"average speedup on {gpu}", "section 6.2", fig10.PAPER_AVERAGE[gpu],
                  partial(averaged, speedup, gpu, at_floor))
        )  # fmt: skip
        claims.append(
            Claim("scu", f"average energy reduction on {gpu}", "section 6.1", ENERGY_AVERAGE[gpu],
                  partial(averaged, saving, gpu, None), tag="energy", cause="time")
        )  # fmt: skip
        claims.append(
            Claim(
                "scu",
                f"area on {gpu}, mm2",
                "section 6.4",
                AREA[gpu],
                partial(area, gpu),
                0.0,
                tag="area",
                cause="storage",
            )
        )
    return claims


def _of_filtering() -> list[Claim]:
    claims = []
    for algorithm in ("bfs", "sssp"):
        for gpu in GPUS:
            basic = partial(compared, speedup, gpu, algorithm, "scu-basic", at_floor)
            claims.append(Claim("scu", f"basic unit, {algorithm} on {gpu}", "Fig. 11", fig11.BASIC_SPEEDUP, basic))
            energy = partial(compared, saving, gpu, algorithm, "scu-basic", None)
            claims.append(
                Claim("scu", f"basic unit, energy reduction, {algorithm} on {gpu}", "Fig. 11", fig11.BASIC_ENERGY,
                      energy, tag="energy", cause="time")
            )  # fmt: skip
            rises = 1.1 if gpu == "tx1" else 0.9
            used = partial(compared, bandwidth, gpu, algorithm, "scu", None)
            claims.append(
                Claim("scu", f"bandwidth used, {algorithm} on {gpu}", "Fig. 13", rises, used, only_direction=True,
                      cause="time")
            )  # fmt: skip
        left = workload.PAPER_LEFT[algorithm]
        claims.append(
            Claim("scu", f"workload left, {algorithm}", "sections 4.4, 4.5", left, partial(elements_left, algorithm),
                  share=True, tag=f"workload left, {algorithm.upper()}", cause="tables")
        )  # fmt: skip
        removed = partial(share_of, instructions, "tx1", algorithm)
        claims.append(
            Claim("scu", f"GPU instructions removed, {algorithm} on tx1", "section 6.3",
                  1 - workload.PAPER_INSTRUCTIONS_LEFT[algorithm], removed, 0.0, share=True, cause="base")
        )  # fmt: skip
    return claims


CLAIMS = (
    Claim("scu", "share of time in compaction", "Fig. 1", fig01.LOWEST, partial(compaction, "cycles"), 0.0,
          fig01.HIGHEST, share=True, cause="counting"),
    Claim("scu", "share of energy in compaction", "section 1", fig01.ENERGY, partial(compaction, "energy_joules"), 0.0,
          1.0, share=True, cause="counting"),
    *_of_gpus(),
    *_of_filtering(),
    Claim("scu", "coalescing gained by grouping, sssp on tx1", "Fig. 12", fig12.PAPER, grouping, cause="transactions"),
)  # fmt: skip


def requests(runs: StoredRuns, graph: str, gpu: str, algorithm: str, seed: int) -> list[Request]:
    """All runs that the claims need of one graph, GPU, algorithm and source."""
    units = ("scu-basic",) if algorithm == "pagerank" else ("scu-basic", "scu")
    found = [r for unit in units for r in pair(runs, algorithm, gpu, unit)(graph, seed)]
    if algorithm == "bfs":
        found += _split(runs, algorithm, gpu)(graph, seed)
    if algorithm == "sssp" and gpu == "tx1":
        found.append(runs.request("sssp", graph, "tx1", "scu", seed=seed, overrides=fig12.FILTER_ONLY))
    return list({r.as_dict().__repr__(): r for r in found}.values())
