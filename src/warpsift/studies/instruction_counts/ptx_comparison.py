"""Compare warpsift's instruction counts with the PTX of equal CUDA kernels (docs/instruction-counts.md).

    python -m warpsift.studies.instruction_counts.ptx_comparison            needs nvcc; warpsift itself does not

Counted is the longest path: warp 0 of a CTA in which every thread takes every branch that keeps it going. For a PTX
kernel that is all its instructions; loops are counted per iteration.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from warpsift.algorithms.bfs.frontier import contract
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.pagerank.vertex import pull
from warpsift.algorithms.sssp.frontier import contract as sssp_contract
from warpsift.simt import Chunk, Gpu, LaunchInfo
from warpsift.simt.stream import ALU

SOURCE = Path(__file__).parent / "cuda_twins.cu"
N = 256


class WarpZero:
    """A sink that counts the instructions of the first warp."""

    instructions = 0

    def begin(self, launch: LaunchInfo) -> None:
        pass

    def chunk(self, chunk: Chunk) -> None:
        ops = chunk.ops[: chunk.warp_first[1]]
        self.instructions = int(np.where(ops["kind"] == ALU, ops["count"], 1).sum())

    def end(self) -> None:
        pass

    def operation(self, operation) -> None:
        pass


def ours() -> dict[str, tuple[int, int]]:
    """Kernel -> instructions outside of loops, and per loop iteration."""
    counts = {}
    sink = WarpZero()
    gpu = Gpu(sink, memory_bytes=1 << 24)
    m = gpu.memory
    labels, visited = m.full("labels", 64 * N, INFINITY), m.empty("visited", 8 * N, np.uint8)
    vertices = m.array("edges", np.arange(0, 64 * N, 64).astype(np.int32) + np.arange(N) % 64)
    out = (m.empty("frontier", N), m.empty("count", 1))
    gpu.launch(contract, N, vertices, N, visited, labels, 1, *out, 1, (True, True), phase="contract")
    counts["contract"] = (sink.instructions, 0)
    lengths = []
    for degree in (1, 2):
        offsets = m.array("offsets", np.arange(N + 1, dtype=np.int32) * degree)
        sources, shares = m.empty("sources", N * degree), m.empty("shares", N, np.float32)
        arguments = (offsets, sources, shares, m.empty("total", N, np.float32), np.float32(1), np.float32(1))
        gpu.launch(pull, N, *arguments, phase="pull")
        lengths.append(sink.instructions)
    counts["pull"] = (2 * lengths[0] - lengths[1], lengths[1] - lengths[0])
    nodes = m.array("nodes", np.arange(N, dtype=np.int32))
    state = (m.full("distance", N, INFINITY), m.empty("lookup", N), m.empty("flags", N), np.int32(1 << 20))
    gpu.launch(sssp_contract, N, nodes, m.empty("costs", N), *state, phase="contract")
    counts["sssp_contract"] = (sink.instructions, 0)
    return counts


def theirs() -> dict[str, tuple[int, int]]:
    """The same from nvcc's PTX: a block that jumps back to its own label is a loop."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder) / "kernels.ptx"
        subprocess.run(["nvcc", "-ptx", "-arch=sm_75", "-o", ptx, SOURCE], check=True)
        text = ptx.read_text()
    counts = {}
    for name, body in re.findall(r"\.entry (\w+)\([^)]*\)[^{]*\{(.*?)\n\}", text, re.S):
        straight = loop = 0
        block, label = 0, None
        for line in body.splitlines():
            word = line.strip()
            if match := re.fullmatch(r"(\$?\w+):.*", word):
                straight, block, label = straight + block, 0, match[1]
            elif word.endswith(";") and not word.startswith("."):
                block += 1
                if " bra" in f" {word}" and word.rstrip(";").split()[-1] == label:
                    loop, block = loop + block, 0
        counts[name] = (straight + block, loop)
    return counts


def main() -> None:
    if shutil.which("nvcc") is None:
        sys.exit("ptx_counts needs nvcc (any CUDA 11 or later); warpsift itself does not")
    mine, ptx = ours(), theirs()
    print(f"{'kernel':<15} {'part':<10} {'warpsift':>9} {'nvcc PTX':>9} {'ratio':>6}")
    for name in mine:
        for part, k in (("outside", 0), ("iteration", 1)):
            if ptx[name][k]:
                print(
                    f"{name:<15} {part:<10} {mine[name][k]:>9} {ptx[name][k]:>9} {mine[name][k] / ptx[name][k]:>6.2f}"
                )


if __name__ == "__main__":
    main()
