"""What separates our SCU speedups from the paper's, one mechanism at a time.

    python -m warpsift.studies.scu.scu_rung_tables --gpus gtx980,tx1 --graphs kron@1/8 --algorithms bfs

Each rung changes one thing (visibility, fill granularity, limits in flight, life time of the filter, launch cost,
residency, width) or makes one part ideal; the table gives cycles of GPU and unit, the unit's analytic floor, and the
speedup over the plain GPU under the same change, which is run again where the change concerns it. docs/scu.md
discusses the results.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

from warpsift.graph import CsrGraph, load_graph
from warpsift.machines import load_machine
from warpsift.run.execute import run_request
from warpsift.run.request import make_request
from warpsift.studies.markdown_rows import head, line


@dataclass(frozen=True)
class Rung:
    """One change of machine, unit or order of execution."""

    name: str
    machine: dict[str, str] = field(default_factory=dict)
    visibility_ctas: int | None = None
    touches_gpu: bool = False  # the plain GPU changes too, and is run again
    launch_us: tuple[float, float] | None = None  # per kernel, per unit call
    only: tuple[str, ...] = ()  # algorithms that it concerns; empty: all

    @property
    def hash_only(self) -> bool:
        """Whether nothing but filtering and grouping changes."""
        return not self.touches_gpu and set(self.machine) <= _HASH_ONLY

    def concerns(self, algorithm: str) -> bool:
        """PageRank neither filters nor groups, and masks nothing out."""
        if self.only and algorithm not in self.only:
            return False
        return algorithm != "pagerank" or not (self.hash_only or "scu.skip_dropped" in self.machine) or self is RUNGS[0]


WHOLE_LINES = {"l1.fill_bytes": "128", "l2.fill_bytes": "128", "scu.request_bytes": "128"}
FEW_THREADS = {"sm.threads": "256", "sm.warps": "8"}  # the other reading of the paper's tables 3 and 4
IDEAL_UNIT = {"scu.ideal_hash": "true", "scu.inflight_requests": "0"}
RUNGS = [
    Rung("as modelled", touches_gpu=True),
    Rung("whole 128-byte lines", WHOLE_LINES, touches_gpu=True),
    Rung("CTAs one after the other", visibility_ctas=1, touches_gpu=True),
    Rung("CTAs see nothing of their wave", visibility_ctas=0, touches_gpu=True),
    Rung("256 threads per SM", FEW_THREADS, touches_gpu=True),
    Rung("5 us per kernel, 1 us per call", launch_us=(5, 1), touches_gpu=True),
    Rung("5 us per kernel, 5 us per call", launch_us=(5, 5), touches_gpu=True),
    Rung("filter cleared per operation", {"scu.expansion_life": "clear"}),
    Rung("every filter lives as long as the run", {"scu.other_life": "persistent"}),
    Rung("epochs instead of clearing", {"scu.expansion_life": "epoch", "scu.other_life": "epoch"}),
    Rung("dropped elements walked", {"scu.skip_dropped": "false"}),
    Rung("32 probes in flight", {"scu.probe_limit": "32"}),
    Rung("64 probes", {"scu.probe_limit": "64"}),
    Rung("128 probes", {"scu.probe_limit": "128"}),
    Rung("unlimited probes", {"scu.probe_limit": "-1"}),
    Rung("sets of 8 ways: one sector per probe", {"scu.hash_ways": "8"}),
    Rung("128 line requests in flight", {"scu.inflight_requests": "128"}),
    Rung("unlimited line requests", {"scu.inflight_requests": "0"}),
    Rung("the GPU adds the distances", {"scu.accumulate": "gpu"}, only=("sssp",)),
    Rung("4 hash ports, unlimited probes", {"scu.hash_ports": "4", "noc.unit_ports": "5", "scu.probe_limit": "-1"}),
    Rung("zero-latency hash", {"scu.ideal_hash": "true"}),
    Rung("zero-latency hash, unlimited requests", IDEAL_UNIT),
    Rung("16 elements per cycle", {"scu.width": "16"}),
    Rung("zero-latency hash, unlimited requests, 16 per cycle", IDEAL_UNIT | {"scu.width": "16"}),
    Rung("256 threads, zero-latency hash, unlimited requests", FEW_THREADS | IDEAL_UNIT, touches_gpu=True),
    Rung("256 threads, 16 elements per cycle", FEW_THREADS | {"scu.width": "16"}, touches_gpu=True),
]


@dataclass(frozen=True)
class Timed:
    gpu: int
    unit: int
    floor: float
    compaction: float  # share of the GPU's cycles in launches that compact

    @property
    def cycles(self) -> int:
        return self.gpu + self.unit


def time_run(gpu_name: str, graph: CsrGraph, algorithm: str, unit: str, rung: Rung) -> Timed:
    overrides = dict(rung.machine)
    if rung.launch_us is not None:
        mhz = load_machine(gpu_name).clocks.core_mhz
        overrides["launch.overhead_cycles"] = str(round(rung.launch_us[0] * mhz))
        overrides["scu.call_overhead_cycles"] = str(round(rung.launch_us[1] * mhz))
    asked = {"gpu": gpu_name, "unit": unit, "overrides": overrides, "visibility_ctas": rung.visibility_ctas}
    limit = {"max_iterations": 2} if algorithm == "pagerank" else {}
    result = run_request(make_request(algorithm, graph.name, {**asked, **limit, "check": False}), graph)
    floor = result.timing.get("unit_floor_seconds", 0.0) / result.engine.seconds(1)
    on_gpu = sum(phase.timing["cycles"] for phase in result.phases if not phase.unit)
    compacting = sum(phase.timing["cycles"] for phase in result.phases if phase.compaction and not phase.unit)
    on_unit = sum(phase.timing["cycles"] for phase in result.phases if phase.unit)
    return Timed(on_gpu, on_unit, floor, compacting / max(on_gpu, 1))


def ladder(gpu_name: str, graph_name: str, algorithm: str, names: list[str] | None) -> None:
    graph = load_graph(graph_name)
    both = algorithm != "pagerank"
    print(f"\n{algorithm} on {graph_name}, {gpu_name} (cycles in thousands)\n", flush=True)
    heads = ["rung", "plain GPU (in compaction)", f"{'basic' if both else 'unit'}: GPU + unit (floor)", "speedup"]
    heads += ["enhanced: GPU + unit (floor)", "speedup"] if both else []
    print(head(heads), flush=True)
    known: dict[str, Timed] = {}
    for rung in RUNGS:
        if (names and rung.name not in names) or not rung.concerns(algorithm):
            continue
        timed: dict[str, Timed] = {}
        for unit in ("none", "scu-basic", "scu") if both else ("none", "scu-basic"):
            same = (unit == "none" and not rung.touches_gpu) or (unit == "scu-basic" and rung.hash_only)
            if same and unit in known:
                timed[unit] = known[unit]
            else:
                timed[unit] = time_run(gpu_name, graph, algorithm, unit, RUNGS[0] if same else rung)
            if rung is RUNGS[0] or same:
                known[unit] = timed[unit]
        print(_row(rung, timed), flush=True)


def _row(rung: Rung, timed: dict[str, Timed]) -> str:
    plain, k = timed["none"], 1000
    cells = [rung.name, f"{plain.cycles / k:.0f} ({plain.compaction:.0%})"]
    for unit in ("scu-basic", "scu"):
        if unit in timed:
            mine = timed[unit]
            cells += [f"{mine.gpu / k:.0f} + {mine.unit / k:.0f} ({mine.floor / k:.0f})"]
            cells += [f"{plain.cycles / mine.cycles:.2f}"]
    return line(cells)


_HASH_ONLY = {
    "scu.expansion_life",
    "scu.other_life",
    "scu.probe_limit",
    "scu.hash_ways",
    "scu.hash_ports",
    "noc.unit_ports",
    "scu.ideal_hash",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", default="gtx980,tx1")
    parser.add_argument("--graphs", default="kron@1/8,delaunay@1/8")
    parser.add_argument("--algorithms", default="bfs,sssp,pagerank")
    parser.add_argument("--rungs", default="", help="names separated by ';' (default: all)")
    chosen = parser.parse_args()
    names = chosen.rungs.split(";") if chosen.rungs else None
    for algorithm in chosen.algorithms.split(","):
        for graph in chosen.graphs.split(","):
            for gpu in chosen.gpus.split(","):
                ladder(gpu, graph, algorithm, names)


if __name__ == "__main__":
    main()
