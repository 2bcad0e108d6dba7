"""The ladder: which modelling choice moves the MFF's speedup by how much, one at a time.

Each rung changes one thing that the paper leaves open or that bounds the unit; the last ones are ideal, or another
baseline. `warpsift reproduce mff` prints it (docs/report.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warpsift.report.figures import COMMAND, Chart, Figure
from warpsift.report.provenance import command_of
from warpsift.run.request import Request
from warpsift.studies.mff.mff_runs import PLAIN, SAME_OCCUPANCY, UNIT, compute_stage, request
from warpsift.studies.scale import Scale
from warpsift.sweep import FailedRun, Results

GRAPHS = ("dblp-2010",)
ALGORITHMS = ("pagerank", "bfs")
PORTS = {"mff.lookups_per_cycle": "4", "mff.updates_per_cycle": "4", "mff.replies_per_cycle": "4"}
WORDS = {"mff.words_per_reply": "8"}


@dataclass(frozen=True)
class Rung:
    """What is changed: machine parameters of both systems, and parameters or options of one of them."""

    machine: Mapping[str, str] = field(default_factory=dict)
    unit: Mapping[str, Any] = field(default_factory=dict)  # parameters of the MFF, or options
    plain: Mapping[str, Any] = field(default_factory=dict)  # options
    baseline: str = PLAIN


RUNGS = {
    "as modelled": Rung(),
    "8 words per reply": Rung(unit=WORDS),
    "targets of 8 words": Rung(unit={"target_words": 8}),
    "4 ports": Rung(unit=PORTS),
    "4 ports, 8 words per reply": Rung(unit={**PORTS, **WORDS}),
    "4 ports, 8 words, targets of 8": Rung(unit={**PORTS, **WORDS, "target_words": 8}),
    "64 lines per memory unit": Rung(unit={"mff.lines_per_memory_unit": "64"}),
    "lines allocated at issue": Rung(unit={"mff.line_allocation": "issue"}),
    "32-byte fills": Rung({"l1.fill_bytes": "32", "l2.fill_bytes": "32"}),
    "128 MSHRs per L1": Rung({"l1.mshrs": "128"}),
    "byte stores in the baseline": Rung(plain={"bit_setting": "byte"}),
    "baseline at the unit's occupancy": Rung(baseline=SAME_OCCUPANCY),
    "ideal network": Rung({"ideal.noc": "true"}),
    "ideal DRAM": Rung({"ideal.dram": "true"}),
}


def _pair(algorithm: str, graph: str, rung: Rung, scale: Scale) -> tuple[Request, Request]:
    parameters = {key: value for key, value in rung.unit.items() if "." in key}
    options = {key: value for key, value in rung.unit.items() if "." not in key}
    plain = request(algorithm, graph, rung.baseline, scale, overrides=dict(rung.machine), **rung.plain)
    unit = request(algorithm, graph, UNIT, scale, overrides={**rung.machine, **parameters}, **options)
    return plain, unit


def _cases() -> list[tuple[str, str]]:
    return [(algorithm, graph) for algorithm in ALGORITHMS for graph in GRAPHS]


def matrix(scale: Scale) -> list[Request]:
    return [r for case in _cases() for rung in RUNGS.values() for r in _pair(*case, rung, scale)]


def figure(results: Results, scale: Scale) -> Figure:
    rows = []
    missing = []
    for algorithm, graph in _cases():
        for name, rung in RUNGS.items():
            plain, unit = _pair(algorithm, graph, rung, scale)
            try:
                speedup = compute_stage(results, plain)["cycles"] / max(compute_stage(results, unit)["cycles"], 1)
            except FailedRun as error:
                missing.append(f"Left out: {name}; {error}.")
                continue
            rows.append({"case": f"{algorithm}, {graph}", "rung": name, "value": speedup, COMMAND: command_of(unit)})
    return Figure(
        "Ladder: what each modelling choice does to the MFF's speedup",
        Chart("bars", x="rung", y="value", series="case", y_label="speedup with the MFF", reference=1, better="higher"),
        rows,
        "what the MFF paper leaves open",
        (),
        [
            "Each rung changes one thing against 'as modelled'. Fills, MSHRs and ideal parts change both systems. "
            "'4 ports' is four lookups, register updates and replies per memory unit and cycle instead of one.",
            *missing,
        ],
        name="mff-ladder",
    )
