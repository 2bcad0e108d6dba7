"""Fig. 9: energy of the GPU with the SCU, against the plain GPU."""

from __future__ import annotations

import statistics

from warpsift.costs.ceilings import reduction_limit, replaced_share_needed, static_share_limit
from warpsift.report.figures import Figure
from warpsift.run.request import Request
from warpsift.studies.scale import Scale
from warpsift.studies.scu import scu_fig10 as fig10
from warpsift.studies.scu.scu_means import bars_by_graph, paper_means, ratio_rows
from warpsift.studies.scu.scu_runs import GRAPHS, best_unit, evaluation, request, result, seeds
from warpsift.sweep import Results

# Section 6.1
PAPER = {
    ("gtx980", "bfs"): 12.3,
    ("gtx980", "sssp"): 11.0,
    ("gtx980", "pagerank"): 4.65,
    ("tx1", "bfs"): 5.35,
    ("tx1", "sssp"): 4.54,
    ("tx1", "pagerank"): 1.5,
}


def matrix(scale: Scale) -> list[Request]:
    return evaluation(scale)


def figure(results: Results, scale: Scale) -> Figure:
    rows = ratio_rows(
        results,
        scale,
        best_unit,
        lambda plain, unit: plain["energy_joules"] / unit["energy_by_gpu_idle"]["power_gate"],
    )
    limit = static_share_limit(PAPER["gtx980", "bfs"], fig10.PAPER["gtx980", "bfs"])
    share = replaced_share_needed(PAPER["gtx980", "pagerank"])
    return Figure(
        "Energy reduction with the SCU",
        bars_by_graph("energy, plain / with SCU"),
        rows,
        "SCU paper, Fig. 9",
        paper_means(PAPER, "energy reduction"),
        [
            "SMs are power-gated while the SCU works, which is the most favourable of the three ways to count them.",
            f"Arithmetic: 12.3x at 1.41x speed leaves at most {100 * limit:.1f} % of the baseline's energy for "
            f"everything static; 4.65x for PageRank, without filtering, needs {100 * share:.0f} % of the energy in "
            "compaction, while the paper measures more than 45 %.",
            _ceilings(results, scale),
        ],
        name="scu-fig09",
    )


def _static_share(results: Results, scale: Scale, gpu: str, algorithm: str) -> float:
    """Of the plain runs' energy, what is paid by time: mean over graphs and sources."""
    runs = [
        result(results, request(algorithm, graph, gpu, "none", scale, seed=seed))
        for graph in GRAPHS
        for seed in seeds(algorithm, graph, scale)
    ]
    return statistics.fmean(run["static_joules"] / run["energy_joules"] for run in runs)


def _ceilings(results: Results, scale: Scale) -> str:
    """What the paper's own speedups allow, at the share of static energy that our plain runs have."""
    found = []
    for (gpu, algorithm), speedup in fig10.PAPER.items():
        share = _static_share(results, scale, gpu, algorithm)
        limit, paper = reduction_limit(share, speedup), PAPER[gpu, algorithm]
        found.append(f"{algorithm} on {gpu}: {100 * share:.0f} % static, at most {limit:.2f} (paper {paper:g})")
    return f"At the paper's speedups, with nothing gated, our static shares allow: {'; '.join(found)}."
