"""Measured watts of a V100 beside the model's: `warpsift validate watts`, or `python -m warpsift.validation.watts`.

Event counts and watts of kernels of Rodinia, Parboil, the CUDA samples and CUTLASS on a Quadro GV100, published by
accel-sim-framework (util/accelwattch/accelwattch_hw_profiler). The counts go through the same `energy` and a table of
the same kind (`costs/tables/v100.toml`) as a run of the engine. Watts are NVML's, whole board, at 65 C.

What its columns are (gen_hw_perf_csv.py there), per launch:
    L1_*, L2_*      sectors of 32 bytes
    SHRD_ACC        warp instructions to shared memory
    NOC             packets: two per L2 sector, there and back
    Pipeline_Duty   (alu + fma + fp64 + shared + tensor pipe cycles) / (5 x SM cycles). An SM has four pipes of 16 lanes
                    of each kind, and a warp takes one for two cycles; the "shared" pipe is the port of fp64 and tensor
                    (NVIDIA developer forum), so a tensor cycle is counted twice
    Elapsed_Cycles  at 1417 MHz: streaming kernels then reach 86 % of the memory's bandwidth (69 % at the base clock)
There is no count of instructions: arithmetic follows from the duty, every lane counted as active; loads and stores
from their sectors, four to a warp instruction. The board holds its power limit by lowering its clock, so no kernel is
given more than that.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warpsift.costs.coefficients import gpu_table
from warpsift.costs.energy import energy
from warpsift.errors import WarpsiftError

TABLE = "v100"
DATA = Path(__file__).parent / "silicon"
COUNTERS, WATTS = DATA / "v100_counters.csv", DATA / "v100_watts.csv"
CORE_HZ = 1417e6
SMS = 80
PIPES_IN_DUTY = 5
CYCLES_PER_WARP = 2  # 32 threads through 16 lanes
SECTORS_PER_ACCESS = 4  # a warp's 32 words of 4 bytes
TENSOR = ("cutlass", "cudaTensorCoreGemm")  # kernels whose pipe cycles are the tensor cores', counted twice


@dataclass(frozen=True)
class Row:
    """One kernel."""

    kernel: str
    measured_w: float | None
    unlimited_w: float  # what the prices say
    limit_w: float  # of the board
    by_part_w: Mapping[str, float]

    @property
    def ours_w(self) -> float:
        return min(self.unlimited_w, self.limit_w)

    @property
    def error(self) -> float | None:
        return None if self.measured_w is None else self.ours_w / self.measured_w - 1


def engine_counters(kernel: str, row: Mapping[str, float]) -> dict[str, float]:
    """The profiler's counts under the engine's names."""
    seconds = row["Elapsed_Cycles"] / CORE_HZ
    pipe_cycles = row["Pipeline_Duty"] * PIPES_IN_DUTY * SMS * row["Elapsed_Cycles"]
    if kernel.startswith(TENSOR):
        pipe_cycles /= 2
    arithmetic, shared = pipe_cycles / CYCLES_PER_WARP, row["SHRD_ACC"]
    loads = (row["L1_RH"] + row["L1_RM"]) / SECTORS_PER_ACCESS
    stores = (row["L1_WH"] + row["L1_WM"]) / SECTORS_PER_ACCESS
    warps = arithmetic + shared + loads + stores
    return {
        "seconds": seconds,
        "sm_active_seconds": (SMS - row["Num_Idle_SMs"]) * seconds,
        "warp_instructions": warps,
        "thread_instructions": 32 * warps,
        "alu_instructions": arithmetic,
        "float_instructions": arithmetic / 2,  # the mix is not known; it moves the result by under 1 %
        "load_instructions": loads,
        "store_instructions": stores,
        "shared_instructions": shared,
        "shared_passes": shared,  # bank conflicts are not counted
        "l1_read_hits": row["L1_RH"] / SECTORS_PER_ACCESS,
        "l1_read_misses": row["L1_RM"] / SECTORS_PER_ACCESS,
        "l1_write_accesses": stores,
        "l1_fills": row["L1_RM"],
        "request_flits_sent": row["NOC"] / 2,
        "reply_flits_sent": row["NOC"] / 2,
        "l2_read_hits": row["L2_RH"],
        "l2_read_misses": row["L2_RM"],
        "l2_fills": row["L2_RM"],
        "l2_write_hits": row["L2_WH"] + row["L2_WM"],
        "l2_writebacks": row["DRAM_Wr"],
        "dram_reads": row["DRAM_Rd"],
        "dram_writes": row["DRAM_Wr"],
    }


PARTS = {  # columns of the table -> components
    "constant": ("static.board",),
    "SMs by time": ("static.sm_clock", "static.sm_idle"),
    "instructions": ("sm.",),
    "caches, network": ("l1", "noc", "l2"),
    "memory": ("dram.",),
}


def rows(counters: Path = COUNTERS, watts: Path = WATTS, prices: Mapping[str, float] | None = None) -> list[Row]:
    """Every kernel that has counters, with its watts where they were measured; `prices` replaces some of the table."""
    limit_w = gpu_table(TABLE).limits["tdp_w"]
    measured = {row["kernel"]: float(row["mean_watts"]) for row in _read(watts, ("kernel", "mean_watts"))}
    found = []
    for row in _read(counters, ("kernel", "Pipeline_Duty", "Elapsed_Cycles")):
        kernel = row.pop("kernel")
        report = energy(engine_counters(kernel, {k: float(v) for k, v in row.items()}), TABLE, overrides=prices)
        power = report.power_by_component
        parts = {part: sum(w for name, w in power.items() if name.startswith(starts)) for part, starts in PARTS.items()}
        found.append(Row(kernel, measured.get(kernel), report.power_watts, limit_w, parts))
    unknown = sorted(set(measured) - {row.kernel for row in found})
    if unknown:
        raise WarpsiftError(f"{watts}: no counters of {', '.join(unknown)} in {counters}; take kernels that it has.")
    return found


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    try:
        with path.open(newline="") as file:
            found = list(csv.DictReader(file))
    except OSError as error:
        raise WarpsiftError(
            f"{path}: {error.strerror}; give a CSV file with the columns {', '.join(columns)}."
        ) from None
    if not found or not set(columns) <= set(found[0]):
        raise WarpsiftError(f"{path}: give a CSV file with the columns {', '.join(columns)}.")
    return found


def mean_absolute_error(found: Sequence[Row], limited: bool = True) -> float:
    """Mean over the measured kernels of |ours / measured - 1|."""
    errors = [abs((r.ours_w if limited else r.unlimited_w) / r.measured_w - 1) for r in found if r.measured_w]
    return sum(errors) / len(errors)


FITTED = {  # factor -> the parts that it multiplies; the constant power stays
    "SMs by time": ("SMs by time",),
    "instructions": ("instructions",),
    "data movement": ("caches, network", "memory"),
}


@dataclass(frozen=True)
class Fit:
    """Least squares of relative errors over FITTED: for a look at what the prices lack, never the model itself."""

    factors: Mapping[str, float]
    watts: Mapping[str, float]  # fitted to all measured kernels
    left_out_watts: Mapping[str, float]  # each from a fit to all the others


def fit(found: Sequence[Row]) -> Fit:
    measured = [row for row in found if row.measured_w]
    parts = np.array([[sum(r.by_part_w[p] for p in names) for names in FITTED.values()] for r in measured])
    constant = np.array([r.by_part_w["constant"] for r in measured])
    watts = np.array([r.measured_w for r in measured], float)

    def solve(kept: np.ndarray) -> np.ndarray:
        left, right = parts[kept] / watts[kept, None], 1 - constant[kept] / watts[kept]
        return np.linalg.lstsq(left, right, rcond=None)[0]

    everything = solve(np.ones(len(watts), bool))
    others = [float(constant[i] + parts[i] @ solve(np.arange(len(watts)) != i)) for i in range(len(watts))]
    kernels = [r.kernel for r in measured]
    return Fit(
        dict(zip(FITTED, everything.tolist(), strict=True)),
        dict(zip(kernels, (constant + parts @ everything).tolist(), strict=True)),
        dict(zip(kernels, others, strict=True)),
    )


def table(counters: Path = COUNTERS, watts: Path = WATTS) -> dict[str, Any]:
    """What `warpsift validate watts` prints: rows of measured kernels, the others' watts, and the means."""
    found = rows(counters, watts)
    fitted = fit(found)
    lines: list[dict[str, Any]] = []
    for row in sorted(found, key=lambda r: r.error is None):
        line: dict[str, Any] = {"kernel": row.kernel, "measured W": row.measured_w, "ours W": row.ours_w}
        line |= {"error": row.error} | {f"{part} W": value for part, value in row.by_part_w.items()}
        line |= {"fitted W": fitted.watts.get(row.kernel), "left out W": fitted.left_out_watts.get(row.kernel)}
        lines.append(line)
    measured = {row.kernel: row.measured_w for row in found if row.measured_w}

    def mean(of: Mapping[str, float]) -> float:
        return sum(abs(of[k] / w - 1) for k, w in measured.items()) / len(measured)

    dally = rows(counters, watts, {"lane_instruction": DALLY_LANE_PJ * 1e-12})
    means = {
        "ours": mean_absolute_error(found),
        "ours without the board's power limit": mean_absolute_error(found, limited=False),
        "with Dally's instruction, scaled from 45 nm": mean_absolute_error(dally),
        "fitted (3 factors, these kernels)": mean(fitted.watts),
        "fitted, each kernel left out of its own fit": mean(fitted.left_out_watts),
    }
    return {"rows": lines, "mean_absolute_error": means, "factors": dict(fitted.factors)}


# 30 pJ at 45 nm, 0.9 V x 0.198 = 5.9 pJ at this table's technology, less front end, register file and operation
DALLY_LANE_PJ = 3.3


def text(found: Mapping[str, Any]) -> list[str]:
    """The table as lines of Markdown."""
    heads = list(found["rows"][0])
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in found["rows"]:
        lines.append("| " + " | ".join(_cell(head, row[head]) for head in heads) + " |")
    lines.append("")
    lines += [f"mean absolute error, {name}: {value:.1%}" for name, value in found["mean_absolute_error"].items()]
    factors = ", ".join(f"{name} x {value:.2f}" for name, value in found["factors"].items())
    return [*lines, f"factors of the fit: {factors}"]


def _cell(head: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:+.0%}" if head == "error" else f"{value:.0f}"


if __name__ == "__main__":
    print("\n".join(text(table(*map(Path, sys.argv[1:])))))
