"""The tables of docs/scu-measurements.md from a store of runs.

    warpsift sweep examples/scu_tables.toml --store scu.db
    python -m warpsift.studies.scu.scu_run_tables scu.db

One table per algorithm and GPU, a row per graph: a mean over the sources that the store has, with the least and the
largest speedup. Last comes a table of the means over graphs, geometric for speedups, arithmetic for shares.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from warpsift.store.rows import geometric_mean
from warpsift.store.store import Store

Run = dict[str, Any]
GRAPHS = ("kron", "delaunay", "cond", "ca", "msdoor", "human")
ITERATIONS = 2  # of PageRank, as the sweep file says; times are per iteration
PAPER = {  # SCU paper, section 6.2 and Fig. 10
    ("bfs", "gtx980"): "1.41",
    ("sssp", "gtx980"): "1.65",
    ("pagerank", "gtx980"): "just under 1",
    ("bfs", "tx1"): "3.83",
    ("sssp", "tx1"): "3.24",
    ("pagerank", "tx1"): "1.05",
}


@dataclass
class Cell:
    """The runs of one algorithm on one graph and GPU: for each unit one per source."""

    graph: dict[str, Any] = field(default_factory=dict)
    runs: dict[str, dict[int, Run]] = field(default_factory=dict)

    def values(self, unit: str, measure: Callable[[Run, Run], float]) -> list[float]:
        """Measure (plain run, run with the unit), source by source."""
        plain, mine = self.runs.get("none", {}), self.runs.get(unit, {})
        return [measure(plain[seed], mine[seed]) for seed in sorted(plain.keys() & mine.keys())]

    def mean(self, unit: str, measure: Callable[[Run, Run], float]) -> float:
        return statistics.fmean(self.values(unit, measure))


def read(paths: list[str]) -> dict[tuple[str, str], dict[str, Cell]]:
    """Cells by algorithm and GPU, then by the paper's name of the graph; runs of the newest version win."""
    cells: dict[tuple[str, str], dict[str, Cell]] = {}
    found = [record for path in paths for record in Store(path, readonly=True).records()]
    records = [r for r in found if r.status == "done" and not r.request["overrides"]]
    for record in sorted(records, key=lambda r: r.finished_at or 0):
        request, result = record.request, record.result
        assert result is not None
        name = record.graph["name"].split("@")[0]
        by_graph = cells.setdefault((request["algorithm"], request["gpu"]), {})
        cell = by_graph.setdefault(name, Cell())
        cell.graph = dict(record.graph)
        cell.runs.setdefault(request["unit"], {})[result["options"].get("seed", 1)] = dict(result)
    return cells


# ---- measures -----------------------------------------------------------------------------------------------------
def speedup(plain: Run, mine: Run) -> float:
    return plain["seconds"] / mine["seconds"]


def speedup_at_floor(plain: Run, mine: Run) -> float:
    return plain["seconds"] / (mine["gpu_seconds"] + mine["unit_floor_seconds"])


def elements(run: Run) -> float:
    """Elements of the frontiers that the GPU works on."""
    return run["notes"].get("frontier_elements") or run["work"]["nodes_processed"] + run["work"]["edges_touched"]


def instructions_left(plain: Run, mine: Run) -> float:
    return mine["warp_instructions"] / plain["warp_instructions"]


def compaction(run: Run) -> float:
    inside = sum(phase["cycles"] for phase in run["phases"] if phase["compaction"])
    return inside / sum(phase["cycles"] for phase in run["phases"])


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# ---- tables -------------------------------------------------------------------------------------------------------
def spread(values: list[float]) -> str:
    """Mean, and the range if there are several."""
    mean = f"{statistics.fmean(values):.2f}"
    return mean if len(values) < 2 else f"{mean} ({min(values):.2f} to {max(values):.2f})"


def size(cell: Cell) -> str:
    return f"{cell.graph['nodes'] / 1e3:.0f} k / {cell.graph['edges'] / 1e6:.2f} M"


def complete(algorithm: str, cells: dict[str, Cell]) -> tuple[str, list[tuple[str, Cell]]]:
    """The unit that the paper uses, and the graphs of which the store has all runs."""
    best = "scu-basic" if algorithm == "pagerank" else "scu"
    needed = {best, "scu-basic"}
    return best, [(n, cells[n]) for n in GRAPHS if n in cells and all(cells[n].values(u, speedup) for u in needed)]


def table(algorithm: str, gpu: str, cells: dict[str, Cell]) -> None:
    best, chosen = complete(algorithm, cells)
    basic = algorithm != "pagerank"
    sources = sorted({len(cell.values(best, speedup)) for _, cell in chosen})
    print(f"\n### {algorithm}, {gpu} (sources: {', '.join(map(str, sources))})\n")
    heads = ["graph (nodes / arcs)", "plain ns/arc", *(["basic"] if basic else []), "GPU + unit ns/arc"]
    heads += ["enhanced" if basic else "speedup", "at the floor"]
    heads += ["elements left", "instructions left"] if basic else ["instructions left"]
    heads += ["in compaction, plain", "bandwidth plain, unit"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for name, cell in chosen:
        arcs = cell.graph["edges"] * (1 if basic else ITERATIONS)
        row = [f"{name} ({size(cell)})", f"{cell.mean(best, lambda p, m, n=arcs: p['seconds'] / n * 1e9):.2f}"]  # type: ignore[misc]
        row += [spread(cell.values("scu-basic", speedup))] if basic else []
        on_gpu = cell.mean(best, lambda p, m, n=arcs: m["gpu_seconds"] / n * 1e9)  # type: ignore[misc]
        on_unit = cell.mean(best, lambda p, m, n=arcs: m["unit_seconds"] / n * 1e9)  # type: ignore[misc]
        row += [f"{on_gpu:.2f} + {on_unit:.2f}", spread(cell.values(best, speedup))]
        row += [f"{cell.mean(best, speedup_at_floor):.2f}"]
        row += [percent(cell.mean(best, lambda p, m: elements(m) / elements(p)))] if basic else []
        row += [percent(cell.mean(best, instructions_left))]
        row += [percent(cell.mean(best, lambda p, m: compaction(p)))]
        used = [cell.mean(best, lambda p, m, k=k: (p, m)[k]["bandwidth_utilisation"]) for k in (0, 1)]  # type: ignore[misc]
        row += [f"{percent(used[0])}, {percent(used[1])}"]
        print("| " + " | ".join(row) + " |")


def means(cells: dict[tuple[str, str], dict[str, Cell]]) -> None:
    """A row per algorithm and GPU: speedups beside the paper's, what is left for the GPU."""
    heads = ["", "basic", "enhanced", "at its floor", "paper", "elements left", "instructions left"]
    heads += ["in compaction, plain"]
    print("\n| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for (algorithm, gpu), by_graph in cells.items():
        best, chosen = complete(algorithm, by_graph)
        filters = best == "scu"
        row = [f"{algorithm}, {gpu} ({len(chosen)} graphs)", f"{_mean(chosen, 'scu-basic', speedup):.2f}"]
        row += [f"{_mean(chosen, best, speedup):.2f}" if filters else ""]
        row += [f"{_mean(chosen, best, speedup_at_floor):.2f}", PAPER[algorithm, gpu]]
        row += [_share(chosen, best, lambda p, m: elements(m) / elements(p)) if filters else ""]
        row += [_share(chosen, best, instructions_left), _share(chosen, best, lambda p, m: compaction(p))]
        print("| " + " | ".join(row) + " |")


def _mean(chosen: Iterable[tuple[str, Cell]], unit: str, measure: Callable[[Run, Run], float]) -> float:
    return geometric_mean(cell.mean(unit, measure) for _, cell in chosen)


def _share(chosen: Iterable[tuple[str, Cell]], unit: str, measure: Callable[[Run, Run], float]) -> str:
    return percent(statistics.fmean(cell.mean(unit, measure) for _, cell in chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="+", help="file of `warpsift sweep examples/scu_tables.toml --store FILE`")
    found = read(parser.parse_args().stores)
    wanted = [(algorithm, gpu) for algorithm in ("bfs", "sssp", "pagerank") for gpu in ("gtx980", "tx1")]
    cells = {key: found[key] for key in wanted if key in found and complete(key[0], found[key])[1]}
    for (algorithm, gpu), by_graph in cells.items():
        table(algorithm, gpu, by_graph)
    means(cells)


if __name__ == "__main__":
    main()
