"""Is the word of `which_unit_limits.py` the cause? Experiments that change what it names, and one thing beside it.

A word names the largest counter. It is proven where twice of what it names makes the run much faster, and twice of
something else does not. `balance` says that SMs lie idle: then half of them must do nearly as well, and in a run with
another word they must not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpsift.run.request import Request, make_request
from warpsift.studies.which_unit import Case, hardware
from warpsift.studies.which_unit_area import lanes
from warpsift.sweep import Results, SweepOptions, run_sweep

Row = dict[str, Any]
MUCH = 1.2  # times as fast, for twice of one thing: stated before the runs
LITTLE = 1.1


@dataclass(frozen=True)
class Experiment:
    """A run of the map, changed in what its word names, and changed in something else."""

    word: str
    case: Case  # the graph as it is loaded
    unit: str
    change: Mapping[str, str]
    control: Mapping[str, str]  # settings of the same run; for `balance` none: its control is another run


# Settings of each lane: the control has the buffers and ports of 16 lanes, but 8 lanes. FIFOs are at their bound.
_WIDE = {**lanes(16), "scu.fetch_fifo_bytes": "32768"}
_BUFFERS = {
    "scu.vector_buffer_bytes": "10240", "scu.fetch_fifo_bytes": "65536", "scu.inflight_requests": "64",
    "scu.hash_buffer_bytes": "36864", "noc.unit_ports": "17",
}  # fmt: skip
_WIDE_TX1 = lanes(4)
_BUFFERS_TX1 = {**_BUFFERS, "scu.fetch_fifo_bytes": "77824", "noc.unit_ports": "5"}  # of four lanes, for two
_MORE_LINES = {"mff.lines_per_memory_unit": "40"}
_OTHER_MFF = {"mff.tags_per_memory_unit": "512", "mff.work_registers": "16384"}
_OTHER_MFF_A100 = {"mff.tags_per_memory_unit": "512", "mff.work_registers": "65536"}
_TWICE_THE_DRAM = {"dram.clock_mhz": "3200"}  # of the TX1's 1600
_HALF_THE_SMS = {"sm.count": "8"}
_TWICE_THE_SMS = {"sm.count": "32"}
# What leaves the SCU leaves by one port, a sector of 32 bytes per cycle: with these a whole line does
_LINES_AS_FLITS = {"noc.flit_bytes": "136", "noc.request_sectors_per_packet": "4"}
_IDEAL_HASH = {"scu.ideal_hash": "true"}  # a set is there at once, and takes no port

EXPERIMENTS = (
    Experiment("width", ("gtx980", "pagerank", "cond"), "SCU", _WIDE, _BUFFERS),
    Experiment("width", ("gtx980", "pagerank", "dblp-2010"), "SCU", _WIDE, _BUFFERS),
    Experiment("width", ("gtx980", "bfs", "dblp-2010"), "SCU", _WIDE, _BUFFERS),
    Experiment("width", ("gtx980", "sssp", "cond"), "SCU", _WIDE, _BUFFERS),
    Experiment("width", ("tx1", "pagerank", "dblp-2010"), "SCU", _WIDE_TX1, _BUFFERS_TX1),
    Experiment("width", ("tx1", "bfs", "cond"), "SCU", _WIDE_TX1, _BUFFERS_TX1),
    Experiment("width", ("tx1", "bfs", "dblp-2010"), "ISCU", _WIDE_TX1, _BUFFERS_TX1),
    Experiment("width and port", ("gtx980", "pagerank", "cond"), "SCU", {**_WIDE, **_LINES_AS_FLITS}, _LINES_AS_FLITS),
    Experiment(
        "width and port", ("gtx980", "pagerank", "dblp-2010"), "SCU", {**_WIDE, **_LINES_AS_FLITS}, _LINES_AS_FLITS
    ),
    Experiment("hash port", ("gtx980", "bfs", "dblp-2010"), "SCU", _IDEAL_HASH, _WIDE),
    Experiment("hash port", ("gtx980", "sssp", "cond"), "SCU", _IDEAL_HASH, _WIDE),
    Experiment("hash port", ("gtx980", "bfs", "amazon-2008@1/4"), "SCU", _IDEAL_HASH, _WIDE),
    Experiment("lines", ("gtx980", "pagerank", "dblp-2010"), "MFF", _MORE_LINES, _OTHER_MFF),
    Experiment("lines", ("gtx980", "bfs", "cnr-2000@1/2"), "MFF", _MORE_LINES, _OTHER_MFF),
    Experiment("lines", ("a100", "pagerank", "dblp-2010"), "MFF", _MORE_LINES, _OTHER_MFF_A100),
    Experiment("instructions", ("gtx980", "pagerank", "dblp-2010"), "MFF", _TWICE_THE_SMS, _MORE_LINES),
    Experiment("bandwidth", ("tx1", "pagerank", "dblp-2010"), "MFF", _TWICE_THE_DRAM, _MORE_LINES),
    Experiment("bandwidth", ("tx1", "pagerank", "dblp-2010"), "IRU", _TWICE_THE_DRAM, {"iru.hash_banks": "4"}),
    Experiment("bandwidth", ("tx1", "bfs", "dblp-2010"), "scu+mff", _TWICE_THE_DRAM, _WIDE_TX1),
    Experiment("balance", ("gtx980", "bfs", "cond"), "IRU", _HALF_THE_SMS, {}),
    Experiment("balance", ("gtx980", "bfs", "dblp-2010"), "IRU", _HALF_THE_SMS, {}),
    Experiment("balance", ("gtx980", "sssp", "cond"), "IRU", _HALF_THE_SMS, {}),
    Experiment("instructions", ("gtx980", "pagerank", "cond"), "IRU", _HALF_THE_SMS, {}),
)


def requests(experiment: Experiment) -> list[Request]:
    """The run as it is in the map, with the change, and with the control if there is one."""
    gpu, algorithm, graph = experiment.case
    choices = hardware(gpu, algorithm)[experiment.unit]
    limit = {"max_iterations": 2} if algorithm == "pagerank" else {}
    changes = [{}, experiment.change, *([experiment.control] if experiment.control else [])]
    return [
        make_request(
            algorithm, graph, {"gpu": gpu, **choices, **limit, "overrides": {**choices["overrides"], **change}}
        )
        for change in changes
    ]


def verdict(change: float, control: float | None) -> str:
    """From how many times as fast the changed run is, and the control's."""
    if control is None:  # half of the SMs
        slower = 1 / change
        return "SMs are idle" if slower <= LITTLE else "SMs are needed" if slower >= MUCH else "open"
    if control >= LITTLE:
        return "not alone" if change >= LITTLE else "something else"
    return "proven" if change >= MUCH else "in part" if change >= LITTLE else "not the cause"


def study(store: Path, options: SweepOptions, experiments: Iterable[Experiment] = EXPERIMENTS) -> list[Row]:
    """Runs what is not in the store yet; a row per experiment."""
    chosen = list(experiments)
    results = run_sweep([each for one in chosen for each in requests(one)], store, options)
    return [_row(one, results) for one in chosen]


def _row(experiment: Experiment, results: Results) -> Row:
    seconds = [float((results[each].result or {})["seconds"]) for each in requests(experiment)]
    change, *rest = (seconds[0] / each for each in seconds[1:])
    control = rest[0] if rest else None
    gpu, algorithm, graph = experiment.case
    row: Row = {"word": experiment.word, "unit": experiment.unit, "gpu": gpu, "algorithm": algorithm, "graph": graph}
    return row | {"change": change, "control": control, "verdict": verdict(change, control)}
