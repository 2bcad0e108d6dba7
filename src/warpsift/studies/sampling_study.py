"""How far sampled runs lie from full ones, and how often their intervals hold the truth.

Pairs of a run and a machine, each timed in full and sampled: algorithms, styles and units on graphs with and without
hubs. Both runs are kept in a store, so that the study may be stopped and started again.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warpsift.run.request import Request, make_request
from warpsift.sweep import SweepOptions, run_sweep

SAMPLE = 20
FEW_STEPS = {"max_iterations": 4}
# algorithm, graph, machine, choices
PAIRS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    *(("bfs", "kron-14", gpu, {}) for gpu in ("gtx980", "tx1", "gtx480", "titanx")),
    *((a, "kron-13", gpu, {}) for a in ("sssp", "wcc") for gpu in ("gtx980", "tx1", "gtx480")),
    *(("pagerank", "kron-13", gpu, FEW_STEPS) for gpu in ("gtx980", "tx1", "gtx480")),
    *((a, "delaunay-13", gpu, {}) for a in ("bfs", "wcc") for gpu in ("gtx980", "tx1")),
    *(("pagerank", "delaunay-15", gpu, FEW_STEPS) for gpu in ("gtx980", "gtx480")),
    *((a, "kron-13", gpu, {"style": "vertex"}) for a in ("bfs", "sssp", "wcc") for gpu in ("gtx980", "gtx480")),
    *(("pagerank", "kron-13", gpu, {"style": "vertex", **FEW_STEPS}) for gpu in ("gtx980", "gtx480")),
    *((a, "kron-13", gpu, {"unit": "scu"}) for a in ("bfs", "sssp") for gpu in ("gtx980", "tx1")),
    *(("pagerank", "kron-13", gpu, {"unit": "scu", **FEW_STEPS}) for gpu in ("gtx980", "tx1")),
    *((a, "kron-13", "gtx480", {"unit": "mff"}) for a in ("bfs", "sssp", "wcc")),
    ("pagerank", "kron-13", "gtx480", {"unit": "mff", **FEW_STEPS}),
    ("bfs", "msdoor@1/32", "gtx980", {}),
    ("bfs", "msdoor@1/32", "tx1", {"unit": "scu"}),
    ("bfs", "cond", "tx1", {}),
    ("tc", "delaunay-14", "gtx980", {}),
)


def requests(sample: int = SAMPLE) -> list[tuple[Request, Request]]:
    """Each pair in full, and sampled."""
    full = [make_request(a, graph, {"gpu": gpu, **choices}) for a, graph, gpu, choices in PAIRS]
    return [(request, replace(request, sample=sample)) for request in full]


def study(store: Path, sample: int, options: SweepOptions) -> list[dict[str, Any]]:
    """A row per pair; what is in the store is not run again."""
    pairs = requests(sample)
    results = run_sweep([request for pair in pairs for request in pair], store, options)
    rows = []
    for full, sampled in pairs:
        truth, found = results[full], results[sampled]
        rows.append(_row(full, truth.result, found.result) | _seconds(truth, found))
    return rows


def _row(request: Request, truth: Any, found: Any) -> dict[str, Any]:
    low, high = found["intervals"]["cycles"]
    few, many = found["intervals"].get("energy_joules", (0.0, 0.0))
    joules = truth.get("energy_joules")
    return {
        "algorithm": request.algorithm,
        "style": request.style,
        "unit": request.unit,
        "graph": request.graph,
        "gpu": request.gpu,
        "cycles": truth["cycles"],
        "sampled": found["cycles"],
        "error": found["cycles"] / truth["cycles"] - 1,
        "half_interval": (high - low) / (high + low),
        "covered": low <= truth["cycles"] <= high,
        "dram_error": found["dram_bytes"] / truth["dram_bytes"] - 1 if truth["dram_bytes"] else 0.0,
        "energy_error": found["energy_joules"] / joules - 1 if joules else None,
        "energy_covered": few <= joules <= many if joules else None,
        "timed_share": found["sampling"]["timed_share"],
        "check": found["check"],
    }


def _seconds(truth: Any, found: Any) -> dict[str, Any]:
    return {"seconds": round(truth.host_seconds or 0.0, 2), "seconds_sampled": round(found.host_seconds or 0.0, 2)}


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """The bars, in a sentence."""
    errors = sorted(abs(row["error"]) for row in rows)
    covered = sum(row["covered"] for row in rows)
    return (
        f"{len(rows)} pairs: cycles within {100 * statistics.median(errors):.1f} % in the median and "
        f"{100 * errors[-1]:.1f} % at worst; {sum(e <= 0.08 for e in errors)} within 8 %; the 95 % interval holds the "
        f"truth in {covered}"
    )


def write_csv(rows: Sequence[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()})
