"""The runs that the SCU paper's figures share: three algorithms, six graphs, two GPUs, with and without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpsift.run.request import Request, make_request
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

GRAPHS = ("ca", "cond", "delaunay", "human", "kron", "msdoor")  # paper, table 5
GPUS = ("gtx980", "tx1")  # tables 3 and 4
ALGORITHMS = ("bfs", "sssp", "pagerank")


def request(algorithm: str, graph: str, gpu: str, unit: str, scale: Scale, **changes: Any) -> Request:
    """One run; BFS and SSSP say their source's seed in `changes`."""
    choices: dict[str, Any] = {"gpu": gpu, "unit": unit, "reading": scale.reading, "sample": scale.sample, **changes}
    if algorithm == "pagerank":
        choices["max_iterations"] = scale.iterations
    return make_request(algorithm, scale.graph(graph), choices)


def seeds(algorithm: str, graph: str, scale: Scale) -> tuple[int, ...]:
    return (1,) if algorithm == "pagerank" else scale.sources(graph)


def units(algorithm: str) -> tuple[str, ...]:
    """PageRank uses neither filtering nor grouping, so the basic unit is all it needs (section 4.6)."""
    return ("none", "scu-basic") if algorithm == "pagerank" else ("none", "scu-basic", "scu")


def cases(scale: Scale) -> Iterator[tuple[str, str, str, int]]:
    """(algorithm, graph, gpu, seed) of every comparison."""
    for gpu in GPUS:
        for algorithm in ALGORITHMS:
            for graph in GRAPHS:
                for seed in seeds(algorithm, graph, scale):
                    yield algorithm, graph, gpu, seed


def evaluation(scale: Scale) -> list[Request]:
    """All runs of Figs. 9, 10, 11 and 13."""
    return [
        request(algorithm, graph, gpu, unit, scale, seed=seed)
        for algorithm, graph, gpu, seed in cases(scale)
        for unit in units(algorithm)
    ]


def result(results: Results, wanted: Request) -> dict[str, Any]:
    """The finished run as plain data."""
    return dict(results[wanted].result or {})


def best_unit(algorithm: str) -> str:
    """The unit that the paper's headline numbers use."""
    return units(algorithm)[-1]
