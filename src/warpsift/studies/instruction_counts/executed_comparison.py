"""Executed instructions beside nvcc's PTX: thirteen programs, each run by us and, thread by thread, as PTX.

    python -m warpsift.studies.instruction_counts.executed_comparison

Both must give the same answer. `twin_kernels.ptx` is `nvcc -ptx -arch=sm_75 twin_kernels.cu`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from warpsift.errors import WarpsiftError
from warpsift.simt import Chunk, Gpu, LaunchInfo
from warpsift.simt.stream import ALU
from warpsift.studies.instruction_counts.ptx_threads import Program, Thread, read_programs
from warpsift.studies.instruction_counts.twin_kernels import THREADS, TWINS, Twin

PTX = Path(__file__).parent / "twin_kernels.ptx"
ALIGNMENT = 256


class Counted:
    """A sink that counts warp instructions."""

    instructions = 0

    def begin(self, launch: LaunchInfo) -> None:
        pass

    def chunk(self, chunk: Chunk) -> None:
        self.instructions += int(np.where(chunk.ops["kind"] == ALU, chunk.ops["count"], 1).sum())

    def end(self) -> None:
        pass

    def operation(self, operation: object) -> None:
        pass


def ours(twin: Twin) -> tuple[int, dict[str, np.ndarray]]:
    """Warp instructions of our kernel, and what it wrote."""
    sink = Counted()
    gpu = Gpu(sink, memory_bytes=1 << 22)
    given = {
        name: gpu.memory.array(name, value.copy()) if isinstance(value, np.ndarray) else value
        for name, value in twin.arguments().items()
    }
    gpu.launch(twin.kernel, THREADS, *given.values(), phase=twin.name)
    return sink.instructions, {name: given[name].host for name in twin.writes}


def as_ptx(twin: Twin, program: Program) -> tuple[int, dict[str, np.ndarray]]:
    """The same of its PTX: instructions of the first thread of every warp, which stand for the warp's."""
    memory, places, arguments = bytearray(ALIGNMENT), {}, []
    given: dict[str, Any] = twin.arguments()
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            places[name] = len(memory)
            memory += value.tobytes()
            memory += bytes(-len(memory) % ALIGNMENT)
        arguments.append(places.get(name, value))
    if twin.counts_threads:
        arguments.append(THREADS)
    executed = []
    for number in range(THREADS):
        place = {"%ctaid.x": 0, "%ntid.x": THREADS, "%tid.x": number}
        executed.append(Thread(program, memory, arguments, place).run())
    of_warps = np.array(executed).reshape(-1, 32)
    if (of_warps != of_warps[:, :1]).any():
        raise WarpsiftError(f"{twin.name}: threads of a warp go different ways, so that a thread does not count for it")
    wrote = {
        name: np.frombuffer(memory, given[name].dtype, given[name].size, places[name]).copy() for name in twin.writes
    }
    return int(of_warps[:, 0].sum()), wrote


def compared(twin: Twin, program: Program) -> tuple[int, int]:
    """Warp instructions, ours and PTX's, of a program that answers the same."""
    count, written = ours(twin)
    theirs, wrote = as_ptx(twin, program)
    for name in twin.writes:
        if not np.array_equal(written[name], wrote[name]):
            raise WarpsiftError(f"{twin.name}: ours and PTX disagree in '{name}'")
    return count, theirs


def main() -> None:
    print(f"{'program':<15} {'warpsift':>8} {'PTX':>6} {'ratio':>6}")
    programs = read_programs(PTX.read_text(encoding="utf-8"))
    for twin in TWINS:
        count, theirs = compared(twin, programs[twin.name])
        print(f"{twin.name:<15} {count:>8} {theirs:>6} {count / theirs:>6.2f}")


if __name__ == "__main__":
    main()
