"""Which conclusions of Figs. 9 and 11 survive wrong prices: the mean saving on each GPU and algorithm."""

from __future__ import annotations

from warpsift.report.figures import Figure
from warpsift.run.request import Request
from warpsift.store.stored_energy import energy_of_stored
from warpsift.studies.price_figures import figure_of
from warpsift.studies.scale import Scale
from warpsift.studies.scu import scu_fig09 as fig09
from warpsift.studies.scu.scu_runs import ALGORITHMS, GPUS, GRAPHS, best_unit, evaluation, request, seeds
from warpsift.sweep import Results

GPU_IDLE = "power_gate"  # as in Fig. 9; the plain GPU never waits


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    cases, claims = {}, {}
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            pairs = []
            for graph in GRAPHS:
                for seed in seeds(algorithm, graph, scale):
                    both = (request(algorithm, graph, gpu, u, scale, seed=seed) for u in ("none", best_unit(algorithm)))
                    plain, unit = (energy_of_stored(results[wanted], GPU_IDLE) for wanted in both)
                    pairs.append((plain, unit))
            cases[f"{algorithm}, {gpu}"] = pairs
            claims[f"{algorithm}, {gpu}"] = fig09.PAPER[gpu, algorithm]
    return figure_of(cases, claims, "behind the SCU paper's Fig. 9", "scu-prices")
