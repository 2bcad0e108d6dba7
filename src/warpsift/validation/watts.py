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
    Elapsed_Cycles  at 1417 MHz: the streaming kernels then reach 86 % of the memory's bandwidth (69 % at the base clock)
There is no count of instructions: arithmetic follows from the duty, every lane counted as active; loads and stores
from their sectors, four to a warp instruction.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    ours_w: float
    by_part_w: Mapping[str, float]

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


def rows(counters: Path = COUNTERS, watts: Path = WATTS) -> list[Row]:
    """Every kernel that has counters, with its watts where they were measured."""
    measured = {row["kernel"]: float(row["mean_watts"]) for row in _read(watts, ("kernel", "mean_watts"))}
    found = []
    for row in _read(counters, ("kernel", "Pipeline_Duty", "Elapsed_Cycles")):
        kernel = row.pop("kernel")
        report = energy(engine_counters(kernel, {k: float(v) for k, v in row.items()}), TABLE)
        power = report.power_by_component
        parts = {
            part: sum(w for name, w in power.items() if name.startswith(starts)) for part, starts in PARTS.items()
        }
        found.append(Row(kernel, measured.get(kernel), report.power_watts, parts))
    unknown = sorted(set(measured) - {row.kernel for row in found})
    if unknown:
        raise WarpsiftError(f"{watts}: no counters of {', '.join(unknown)} in {counters}; take kernels that it has.")
    return found


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    try:
        with path.open(newline="") as file:
            found = list(csv.DictReader(file))
    except OSError as error:
        raise WarpsiftError(f"{path}: {error.strerror}; give a CSV file with the columns {', '.join(columns)}.") from None
    if not found or not set(columns) <= set(found[0]):
        raise WarpsiftError(f"{path}: give a CSV file with the columns {', '.join(columns)}.")
    return found


def predictions() -> list[str]:
    """Lines of CSV: the model's watts of every kernel, no measurement read."""
    return ["kernel,predicted_watts", *(f"{row.kernel},{row.ours_w:.1f}" for row in rows())]


if __name__ == "__main__":
    print("\n".join(predictions()))
