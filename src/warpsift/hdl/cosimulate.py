"""The emitted Verilog in an independent simulator, Icarus Verilog, driven through cocotb.

Several vectors run in one simulation, so that the unit keeps its state from one to the next. Job and results are files:
the test bench (cocotb_bench.py) runs inside the simulator's process.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import shutil
import sys
from pathlib import Path

import numpy as np

from warpsift.hdl.interfaces import COMMAND, reply_layout, request_layout
from warpsift.hdl.parameters import ScuParameters
from warpsift.hdl.same_bytes import Vector
from warpsift.hdl.yosys import HdlToolError

JOB, BEFORE, AFTER, LOG = "job.json", "before.npz", "after.npz", "simulation.log"


def missing() -> str:
    """What is not installed; empty if all is there."""
    if shutil.which("iverilog") is None or shutil.which("vvp") is None:
        return "Icarus Verilog is not installed (Debian: apt install iverilog)"
    if importlib.util.find_spec("cocotb") is None:
        return "cocotb is not installed (pip install 'warpsift[hdl]')"
    return ""


def command_bits(command: dict[str, int]) -> int:
    return COMMAND.const({name: int(value) for name, value in command.items()}).as_value().value


def run_vectors(
    verilog: str, p: ScuParameters, vectors: list[Vector], folder: Path, seed: int = 1
) -> list[tuple[int, np.ndarray]]:
    """Execute vectors against memories with random latencies, replies in any order and refusals.

    Gives for each (elements kept, memory afterwards).
    """
    problem = missing()
    if problem:
        raise HdlToolError(problem)
    (folder / "scu.v").write_text(verilog)
    extra = 1 if p.ports == 1 else 0
    layouts = {"request": request_layout(p, extra), "reply": reply_layout(p, extra)}
    job = {
        "seed": seed,
        "ports": ["data", "hash"][: p.ports],
        "fields": {
            kind: {name: [layout[name].offset, layout[name].width] for name, _ in layout}
            for kind, layout in layouts.items()
        },
        "commands": [command_bits(vector.command) for vector in vectors],
    }
    (folder / JOB).write_text(json.dumps(job))
    np.savez(folder / BEFORE, *(vector.before for vector in vectors))
    _simulate(folder)
    if not (folder / AFTER).exists():
        log = (folder / LOG).read_text().strip() if (folder / LOG).exists() else "no output"
        raise HdlToolError(f"the simulation of the Verilog failed: {log[-600:]}")
    with np.load(folder / AFTER) as found:
        return [(int(found["kept"][k]), found[f"memory{k}"]) for k in range(len(vectors))]


def _simulate(folder: Path) -> None:
    from cocotb_tools.runner import get_runner

    runner = get_runner("icarus")
    # The runner ends the process, or raises, when a tool fails; what the tools said is in their logs.
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit, RuntimeError):
        runner.build(
            sources=[folder / "scu.v"],
            hdl_toplevel="scu",
            build_dir=folder / "build",
            timescale=("1ns", "1ps"),
            log_file=folder / LOG,
        )
        runner.test(
            hdl_toplevel="scu",
            test_module="warpsift.hdl.cocotb_bench",
            test_dir=folder,
            build_dir=folder / "build",
            timescale=("1ns", "1ps"),
            log_file=folder / LOG,
            extra_env={"PYTHONSAFEPATH": "1"},  # the bench imports nothing from the working directory
        )
