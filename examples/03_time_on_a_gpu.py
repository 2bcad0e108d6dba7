"""Time PageRank on a modelled Tegra X1, and ask how much L2 it needs.

The graph's nodes are numbered at random, so neighbours lie anywhere: a small L2 leaves the memory as the bottleneck.
"""

import warpsift

graph = warpsift.load_graph("delaunay-14~random")
cycles = {}
for size_kib in (64, 256, 1024):
    changes = {"l2.size_bytes": size_kib * 1024}
    result = warpsift.simulate("pagerank", graph, style="vertex", gpu="tx1", overrides=changes, max_iterations=2)
    cycles[size_kib] = result.cycles
    print(
        f"L2 {size_kib:4} KiB: {result.cycles} cycles, {result.l2_hit_rate:.0%} of reads hit L2, "
        f"{result.bandwidth_utilisation:.0%} of the memory's bandwidth used"
    )
print(f"256 KiB is {cycles[64] / cycles[256]:.2f} times as fast as 64 KiB; 1 MiB brings little more.")
assert cycles[64] > 1.3 * cycles[256] > 1.3 * cycles[1024]
