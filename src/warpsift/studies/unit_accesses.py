"""What a unit saves of the plain GPU in the frontier style, from stored runs: time, energy, accesses at three places.

"Memory accesses" may mean several things, and the abstract of the ISCU's paper does not say which. So three are
counted: what the SMs ask for (transactions behind the coalescer), what anyone asks of the L2 slices, and sectors of
DRAM. The contenders are those of `which_unit.py`: the plain GPU has the area of the unit in its L2.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warpsift.store.rows import geometric_mean
from warpsift.studies.stored_runs import StoredRuns
from warpsift.studies.which_unit import DENOMINATORS, NAMES, Case, stored_records
from warpsift.studies.which_unit_area import GPUS
from warpsift.studies.which_unit_map import joules_of, seconds_of

Run = Mapping[str, Any]
Row = dict[str, Any]
BASELINE = "frontier"  # the style that stream compaction units replace
GRAPHS = ("ca", "cond", "delaunay", "human", "kron", "msdoor")  # of the SCU's authors

MEASURES: dict[str, Callable[[Run], float]] = {
    "speedup": seconds_of,
    "energy": joules_of,
    "SM accesses": lambda run: run["transactions"],
    "L2 accesses": lambda run: run["l2_accesses"],
    "DRAM accesses": lambda run: run["dram_reads"] + run["dram_writes"],
}


def saved(plain: Run, unit: Run) -> dict[str, float]:
    """How many times as fast; of everything else, the share of the plain GPU's that is saved."""
    ratios = {name: measure(unit) / measure(plain) for name, measure in MEASURES.items()}
    return {name: 1 / ratio if name == "speedup" else 1 - ratio for name, ratio in ratios.items()}


def rows_of(runs: StoredRuns, unit: str, graphs: Sequence[str] = GRAPHS, gpus: Sequence[str] = GPUS) -> list[Row]:
    """A row per GPU, algorithm and graph, at the largest size of which both runs are stored."""
    rows = []
    for case in ((gpu, name, graph) for gpu in gpus for name in NAMES for graph in graphs):
        found = _pair(runs, unit, case)
        if found is not None:
            loaded, plain, with_unit = found
            rows.append({"gpu": case[0], "algorithm": case[1], "graph": loaded, **saved(plain, with_unit)})
    return rows


def _pair(runs: StoredRuns, unit: str, case: Case) -> tuple[str, Run, Run] | None:
    for _, found in stored_records(runs, case, DENOMINATORS, runs.priced):
        if BASELINE in found and unit in found:
            plain, with_unit = found[BASELINE], found[unit]
            return str(plain.request["graph"]), plain.result or {}, with_unit.result or {}
    return None


def means(rows: Sequence[Row]) -> list[Row]:
    """A row per GPU and algorithm: geometric mean of speedups, means of shares, over graphs; then over all of a GPU."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["gpu"], row["algorithm"]), []).append(row)
    for gpu in {row["gpu"]: None for row in rows}:
        groups[gpu, "all"] = [row for row in rows if row["gpu"] == gpu]
    return [{"gpu": gpu, "algorithm": name, "graphs": len(mine), **_mean(mine)} for (gpu, name), mine in groups.items()]


def _mean(rows: Sequence[Row]) -> dict[str, float]:
    of = {name: [row[name] for row in rows] for name in MEASURES}
    return {n: geometric_mean(of[n]) if n == "speedup" else statistics.fmean(of[n]) for n in MEASURES}
