"""Write a kernel: a histogram of degrees, with divergence, an atomic and a loop, and see what it costs."""

import numpy as np

from warpsift import Gpu, kernel, load_graph
from warpsift.simt import Counter


@kernel
def degree_histogram(t, offsets, counts, bins):
    degree = t.load(offsets, t.id, offset=1) - t.load(offsets, t.id)
    t.atomic_add(counts, t.minimum(degree, bins - 1), 1, used=False)


graph = load_graph("kron-12")
gpu = Gpu(Counter())
offsets = gpu.memory.array("offsets", graph.offsets, np.int32)
counts = gpu.memory.empty("counts", 64)
gpu.launch(degree_histogram, graph.nodes, offsets, counts, 64, phase="histogram")
assert (counts.host == np.bincount(np.minimum(graph.out_degrees, 63), minlength=64)).all()
counters = gpu.sink.launches[0].counters
print(f"{counters.warp_instructions} warp instructions, {counters.transactions} transactions")
