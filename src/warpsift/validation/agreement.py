"""The comparison with GPGPU-Sim: runs the validation kernels and sets our figures beside the reference's.

`reference.csv` holds what GPGPU-Sim 4.2 (execution-driven, caches cold, launch latency 0) reported for the same kernels
on the same inputs; its L2 accesses are without instruction and parameter fetches, which we do not model. Its column
`host_seconds` is how long that simulator took: wall time on two cores with other work, so good for a magnitude only.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from warpsift.engine.engine import Engine
from warpsift.errors import WarpsiftError
from warpsift.machines import load_machine
from warpsift.simt import Gpu, Residency
from warpsift.validation.programs import PROGRAMS

COMPARED = ("cycles", "warp_instructions", "l1_read_accesses", "l2_accesses", "dram_reads", "dram_writes")

# Cycles per dependent load that the same simulator showed (pointer chase, one thread).
LATENCIES = {
    ("gtx480-gpgpusim4", "l1"): 71.0,
    ("gtx480-gpgpusim4", "l2"): 203.5,
    ("gtx480-gpgpusim4", "dram"): 332.0,
    ("titanx", "l2"): 159.0,
    ("titanx", "dram"): 279.0,
}


@dataclass(frozen=True)
class Case:
    """One kernel on one input and machine, with the reference's figures."""

    machine: str
    workload: str
    param: str
    reference: dict[str, int]
    host_seconds: float  # of the reference, wall time beside other work


@dataclass(frozen=True)
class Comparison:
    """Ours beside the reference's."""

    case: Case
    ours: dict[str, int]

    def error(self, name: str) -> float:
        """Relative difference, 0 where the reference has 0."""
        wanted = self.case.reference[name]
        return self.ours[name] / wanted - 1 if wanted else 0.0


@cache
def reference_cases() -> tuple[Case, ...]:
    text = (Path(__file__).parent / "reference.csv").read_text(encoding="utf-8")
    return tuple(
        Case(
            row["machine"],
            row["workload"],
            row["param"],
            {name: int(row[name]) for name in COMPARED},
            float(row["host_seconds"]),
        )
        for row in csv.DictReader(text.splitlines())
    )


def run_case(case: Case, *, checks: bool = False) -> Comparison:
    machine = load_machine(case.machine)
    engine = Engine(machine, checks=checks)
    gpu = Gpu(sink=engine, residency=Residency(machine.sm.count, machine.sm.threads))
    if not PROGRAMS[case.workload](gpu, case.param):
        raise WarpsiftError(f"{case.workload} {case.param} on {case.machine} gave a wrong answer")
    total = engine.total
    return Comparison(case, {name: int(getattr(total, name)) for name in COMPARED})


def compare(cases: Iterable[Case] | None = None) -> Iterator[Comparison]:
    """Run cases (all by default), one after the other."""
    for case in reference_cases() if cases is None else cases:
        yield run_case(case)


def mean_absolute_error(comparisons: Iterable[Comparison], name: str = "cycles") -> float:
    return float(np.mean([abs(c.error(name)) for c in comparisons]))


def log_correlation(comparisons: list[Comparison], name: str = "cycles") -> float:
    ours = np.log([c.ours[name] for c in comparisons])
    theirs = np.log([c.case.reference[name] for c in comparisons])
    return float(np.corrcoef(ours, theirs)[0, 1])
