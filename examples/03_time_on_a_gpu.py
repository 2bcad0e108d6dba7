"""Time PageRank on a modelled GPU, and ask what a larger L2 would bring."""

import warpsift

graph = warpsift.load_graph("kron-11")
for size_kib in (768, 3072):
    changes = {"l2.size_bytes": size_kib * 1024}
    result = warpsift.simulate(
        "pagerank", graph, style="vertex", gpu="gtx480-gpgpusim4", overrides=changes, max_iterations=2
    )
    print(f"L2 {size_kib} KiB: {result.cycles} cycles, L2 hit rate {result.l2_hit_rate:.0%}, {result.stall_stack}")
