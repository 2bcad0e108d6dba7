"""Section 6.2: larger caches instead of the unit, at unchanged latency."""

from __future__ import annotations

from typing import Any

from warpsift.machines import load_machine
from warpsift.report.figures import Chart, Figure, PaperValue
from warpsift.run.request import Request
from warpsift.store.rows import geometric_mean
from warpsift.studies.larger_l1_price import price_of_l1
from warpsift.studies.mff.mff_runs import ALGORITHMS, GPU, PLAIN, UNIT, compute_stage, request
from warpsift.studies.scale import Scale
from warpsift.sweep import Results

GRAPH = "amazon-2008"
FACTORS = (1, 4, 16)
PAPER_SHARE = 0.71  # a 16 times larger L1 reaches 71 % of the unit's speedup
PAPER_PRICE = {"active power": 5.3, "static power": 15.7, "latency": 2.3}


def _larger(algorithm: str, cache: str, factor: int, scale: Scale) -> Request:
    machine = load_machine(GPU)
    size = (machine.l1 if cache == "l1" else machine.l2).size_bytes
    changes = {f"{cache}.size_bytes": str(size * factor)} if factor > 1 else {}
    return request(algorithm, GRAPH, PLAIN, scale, overrides=changes)


def matrix(scale: Scale) -> list[Request]:
    larger = [_larger(a, cache, f, scale) for a in ALGORITHMS for cache in ("l1", "l2") for f in FACTORS]
    return larger + [request(algorithm, GRAPH, UNIT, scale) for algorithm in ALGORITHMS]


def figure(results: Results, scale: Scale) -> Figure:
    rows: list[dict[str, Any]] = []
    speedups: dict[str, list[float]] = {}
    for algorithm in ALGORITHMS:
        base = compute_stage(results, _larger(algorithm, "l1", 1, scale))["cycles"]
        unit = compute_stage(results, request(algorithm, GRAPH, UNIT, scale))["cycles"]
        systems = {
            f"{cache.upper()} x {factor}": compute_stage(results, _larger(algorithm, cache, factor, scale))["cycles"]
            for cache in ("l1", "l2")
            for factor in FACTORS[1:]
        }
        for label, cycles in {**systems, "MFF": unit}.items():
            speedups.setdefault(label, []).append(base / max(cycles, 1))
            rows.append({"algorithm": algorithm, "system": label, "value": speedups[label][-1]})
    share = geometric_mean(speedups["L1 x 16"]) / geometric_mean(speedups["MFF"])
    price = price_of_l1()
    claims = [PaperValue("L1 x 16: of the MFF's speedup", PAPER_SHARE, ours=share)]
    claims += [
        PaperValue(f"L1 x 16: {what}", paper, ours=price[what.replace(" ", "_")])
        for what, paper in PAPER_PRICE.items()
        if what.replace(" ", "_") in price
    ]
    return Figure(
        f"Larger caches instead of the MFF ({GRAPH})",
        Chart(
            "bars",
            x="algorithm",
            y="value",
            series="system",
            y_label="speedup over the plain GPU",
            reference=1,
            better="higher",
        ),
        rows,
        "MFF paper, section 6.2",
        claims,
        ["Caches grow at unchanged latency, the paper's ideal condition. Prices of the larger L1 from CACTI 7."],
        name="mff-caches",
    )
