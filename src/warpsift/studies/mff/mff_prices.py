"""Which conclusions of Fig. 8 survive wrong prices: the mean saving of each algorithm's compute stage."""

from __future__ import annotations

from warpsift.algorithms.operators.scheduling import COMPUTE_PHASE
from warpsift.report.figures import Figure
from warpsift.run.request import Request
from warpsift.store.stored_energy import energy_of_stored
from warpsift.studies.mff import mff_fig08 as fig08
from warpsift.studies.mff.mff_runs import ALGORITHMS, GRAPHS, PLAIN, UNIT, evaluation, request, seeds
from warpsift.studies.price_figures import figure_of
from warpsift.studies.scale import Scale
from warpsift.sweep import Results


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    cases = {}
    for algorithm in ALGORITHMS:
        pairs = []
        for graph in GRAPHS:
            for seed in seeds(algorithm, graph, scale):
                both = (request(algorithm, graph, system, scale, seed=seed) for system in (PLAIN, UNIT))
                plain, unit = (energy_of_stored(results[wanted], "none", COMPUTE_PHASE) for wanted in both)
                pairs.append((plain, unit))
        cases[algorithm] = pairs
    claims = {"all four": 1 / fig08.PAPER}
    cases["all four"] = [pair for pairs in cases.values() for pair in pairs]
    return figure_of(cases, claims, "behind the MFF paper's Fig. 8", "mff-prices")
