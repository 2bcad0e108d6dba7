"""Run one SCU operation in the hardware description and draw what its stages do, cycle by cycle.

    python examples/04_scu_waveform.py waveform.png

Needs the optional tools: pip install 'warpsift[hdl]'.
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, no window
import matplotlib.pyplot as plt
import numpy as np

if importlib.util.find_spec("amaranth") is None:
    print("Amaranth is not installed; pip install 'warpsift[hdl]' to run this example.")
    sys.exit(0)

from warpsift.hdl.memory_model import MemoryModel
from warpsift.hdl.same_bytes import difference, recording_gpu
from warpsift.hdl.simulate import HardwareScu
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_spec import ScuSpec

spec = ScuSpec(width=1, hash_buffer_bytes=576, fetch_fifo_bytes=2048)
gpu, sink = recording_gpu(1 << 20)
data = gpu.memory.array("edges", np.arange(1000, dtype=np.int32))
index = gpu.memory.array("index", np.array([3, 500, 96, 40], np.int32))
count = gpu.memory.array("count", np.array([10, 6, 0, 24], np.int32))
Scu(gpu, spec).access_expansion_compaction(data, index, count)

hardware = HardwareScu(spec)
unit = hardware.unit
hardware.watched = {
    "vector read": unit.vectors.request.valid,
    "inputs": unit.walker.inputs.valid,
    "elements": unit.expander.elements.valid,
    "addresses": unit.address.addresses.valid,
    "data read": unit.coalescer.request.valid,
    "reply": unit.data_reply.valid,
    "fetched": unit.fetch.fetched.valid,
    "write": unit.store.request.valid,
    "result": unit.result.valid,
}
vector = sink.vectors[0]
memory = vector.before.copy()
kept, cycles = hardware.run(vector.command, memory, [MemoryModel.fixed(20), MemoryModel.fixed(20)])
verdict = difference(vector, kept, memory) or "as the API wrote it"
print(f"{kept} elements in {cycles} cycles; memory: {verdict}")

levels = np.array([*hardware.trace, hardware.trace[-1]])  # once more: the last cycle needs an end too
figure, axes = plt.subplots(figsize=(10, 4), layout="constrained")
for row in range(len(hardware.watched)):
    base = len(hardware.watched) - 1 - row
    axes.fill_between(range(len(levels)), base, base + 0.8 * levels[:, row], step="post", linewidth=0)
    axes.axhline(base, color="0.85", linewidth=0.5, zorder=0)
axes.set_yticks([k + 0.4 for k in range(len(hardware.watched))], list(hardware.watched)[::-1])
axes.set_xlabel("cycle; a bar is a cycle in which the stage offers something")
axes.set_title("Access Expansion Compaction of lists of 10, 6, 0 and 24, memory of 20 cycles")
axes.set_xlim(0, len(levels) + 1)
path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "scu_waveform.png"
figure.savefig(path, dpi=110)
print(f"drawn in {path}")
