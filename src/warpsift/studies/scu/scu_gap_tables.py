"""From our speedups to the paper's, step by step, and the plain GPU that each step would need.

    warpsift sweep examples/scu_gap.toml --store gap.db && python -m warpsift.studies.scu.scu_gap_tables gap.db

A step changes plain GPU, unit or both. "Needed" is what the plain GPU would
have to take for the paper's speedup over our run with the unit, and over the same run with the unit at its analytic
floor. Times are ns per arc of the graph. docs/scu.md discusses the results.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from warpsift.store.rows import geometric_mean
from warpsift.store.store import Store
from warpsift.studies.markdown_rows import head, line

PAPER = {("bfs", "tx1"): 3.83, ("sssp", "tx1"): 3.24, ("bfs", "gtx980"): 1.41, ("sssp", "gtx980"): 1.65}
FEW = {"sm.threads": 256, "sm.warps": 8}  # the other reading of the paper's table 4
WIDE = {"noc.flit_bytes": 136, "noc.reply_sectors_per_packet": 4}  # a line and its header in one flit
ANY = {"scu.inflight_requests": 0}
IDEAL = {"scu.ideal_hash": True} | ANY
LIVING = {"scu.other_life": "persistent"}
UNGROUPED = {"scu.grouping": False}
SLOW = {"dram.front_latency_core_cycles": 500}  # 400 cycles more than modelled
TWO = {"scu.width": 2}  # an element and its second operand (cost, old value) in one cycle, and more than that
BIG = {"scu.sssp_filter_bytes": 1572864}  # GTX 980's table: few of these graphs' nodes have no entry
DEFAULTS = {"sm.threads": 2048, "sm.warps": 64, "dram.front_latency_core_cycles": 100}
Key = tuple[frozenset[tuple[str, Any]], bool]  # overrides that change something, kernels split


@dataclass(frozen=True)
class Step:
    name: str
    plain: dict[str, Any]
    unit: dict[str, Any]
    split: bool = False  # the plain GPU compacts in launches of its own
    design: str = "scu"
    only: str = ""  # the algorithm that it concerns


STEPS = [
    Step("basic unit, as modelled", {}, {}, design="scu-basic"),
    Step("enhanced unit, as modelled", {}, {}),
    Step("a crossbar one line wide", WIDE, WIDE),
    Step("zero-latency hash, unlimited line requests", {}, IDEAL),
    Step("ideal, filters live", {}, IDEAL | LIVING, only="sssp"),
    Step("ideal, filters live, no grouping", {}, IDEAL | LIVING | UNGROUPED, only="sssp"),
    Step("that, width 8", {}, IDEAL | LIVING | UNGROUPED | {"scu.width": 8}, only="sssp"),
    Step("ideal, plain GPU's kernels split", {}, IDEAL, split=True),
    Step("basic unit, plain GPU's kernels split", {}, {}, split=True, design="scu-basic"),
    Step("basic unit, 256 threads", FEW, FEW, design="scu-basic"),
    Step("basic unit, 256 threads, split", FEW, FEW, split=True, design="scu-basic"),
    Step("256 threads per SM", FEW, FEW),
    Step("256, a crossbar one line wide", FEW | WIDE, FEW | WIDE),
    Step("256, wide, unlimited line requests", FEW | WIDE, FEW | WIDE | ANY, only="bfs"),
    Step("256, wide, unlimited, filters live", FEW | WIDE, FEW | WIDE | ANY | LIVING, only="sssp"),
    Step("256, zero-latency hash, unlimited", FEW, FEW | IDEAL),
    Step("256, ideal, filters live", FEW, FEW | IDEAL | LIVING, only="sssp"),
    Step("256, ideal, live, GTX 980's filter table", FEW, FEW | IDEAL | LIVING | BIG, only="sssp"),
    Step("256, ideal, plain GPU's kernels split", FEW, FEW | IDEAL, split=True),
    Step("256, ideal, memory 400 cycles further", FEW | SLOW, FEW | SLOW | IDEAL, only="bfs"),
    Step("256, ideal, split, memory 400 cycles further", FEW | SLOW, FEW | SLOW | IDEAL, split=True),
    Step("256, ideal, live, large table, memory further", FEW | SLOW, FEW | SLOW | IDEAL | LIVING | BIG, only="sssp"),
    Step("256, ideal, live, large table, width 2", FEW, FEW | IDEAL | LIVING | BIG | TWO, only="sssp"),
    Step("that, memory further", FEW | SLOW, FEW | SLOW | IDEAL | LIVING | BIG | TWO, only="sssp"),
]


@dataclass(frozen=True)
class Timed:
    """ns per arc."""

    gpu: float
    unit: float
    floor: float


def read(path: str) -> dict[tuple[str, str, str], dict[str, dict[Key, Timed]]]:
    """Runs by algorithm, GPU and graph; then by unit; then by what was changed. Seed 1, default visibility."""
    found: dict[tuple[str, str, str], dict[str, dict[Key, Timed]]] = {}
    for record in Store(path, readonly=True).records():
        request, result = record.request, record.result
        if record.status != "done" or result is None or request["visibility_ctas"] is not None:
            continue
        changed = frozenset(item for item in request["overrides"].items() if item not in DEFAULTS.items())
        key = (changed, bool(request["options"].get("split_kernels")))
        per_arc = 1e9 / record.graph["edges"]
        timed = Timed(
            result["gpu_seconds"] * per_arc,
            (result.get("unit_seconds") or 0.0) * per_arc,
            (result.get("unit_floor_seconds") or 0.0) * per_arc,
        )
        place = (request["algorithm"], request["gpu"], request["graph"])
        found.setdefault(place, {}).setdefault(request["unit"], {})[key] = timed
    return found


def table(algorithm: str, gpu: str, runs: dict[str, dict[str, dict[Key, Timed]]]) -> None:
    paper = PAPER[algorithm, gpu]
    print(f"\n{algorithm}, {gpu} (paper {paper})\n")
    heads = ["step", "graph", "plain ns/arc", "GPU + unit (floor)", "speedup", "needed", "needed at the floor"]
    print(head(heads))
    for step in STEPS:
        if step.only not in ("", algorithm):
            continue
        speedups = []
        for graph, by_unit in runs.items():
            plain = by_unit.get("none", {}).get((frozenset(step.plain.items()), step.split))
            mine = by_unit.get(step.design, {}).get((frozenset(step.unit.items()), False))
            if plain is None or mine is None:
                continue
            speedups.append(plain.gpu / (mine.gpu + mine.unit))
            cells = [step.name, graph, f"{plain.gpu:.2f}", f"{mine.gpu:.2f} + {mine.unit:.2f} ({mine.floor:.2f})"]
            cells += [f"{speedups[-1]:.2f}", f"{paper * (mine.gpu + mine.unit):.1f}"]
            print(line([*cells, f"{paper * (mine.gpu + mine.floor):.1f}"]))
        if speedups:
            mean = f"{geometric_mean(speedups):.2f}"
            print(f"| {step.name} | geometric mean of {len(speedups)} |  |  | **{mean}** |  |  |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--graphs", default="", help="names as in the store, separated by commas (default: all)")
    chosen = parser.parse_args()
    runs = read(chosen.store)
    wanted = chosen.graphs.split(",") if chosen.graphs else None
    for algorithm, gpu in PAPER:
        mine = {g: u for (a, p, g), u in runs.items() if (a, p) == (algorithm, gpu) and (not wanted or g in wanted)}
        if mine:
            table(algorithm, gpu, mine)


if __name__ == "__main__":
    main()
