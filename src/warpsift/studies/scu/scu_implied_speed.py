"""What the SCU paper's own numbers say about its plain GPU: arithmetic, no simulation.

    python -m warpsift.studies.scu.scu_implied_speed

Let the plain GPU take P ns per expanded edge. The unit walks every edge at least once per pass at `width` elements per
cycle, so a speedup S with k passes needs P >= S * k / (width * clock), whatever the GPU does meanwhile. If the GPU's
time also follows its instructions, of which filtering removes a share r (paper, section 6.3), the basic and the
enhanced speedup together fix P:

    basic:     G + k_basic * a / P = 1 / S_basic               a = 1 / (width * clock), G: the GPU's share of the time
    enhanced:  (1 - r) * G + k_enhanced * a / P = 1 / S_enhanced

PageRank has no filter; there the GPU's part is what is not compaction (Fig. 1: 25 to 55 % is).
"""

from __future__ import annotations

from dataclasses import dataclass

CLOCK_GHZ = {"gtx980": 1.27, "tx1": 1.0}  # paper, tables 3 and 4
WIDTH = {"gtx980": 4, "tx1": 1}  # table 2
BASIC = 1.5  # section 6.3: "around 1.5x" for both algorithms and GPUs
ENHANCED = {("bfs", "gtx980"): 1.41, ("bfs", "tx1"): 3.83, ("sssp", "gtx980"): 1.65, ("sssp", "tx1"): 3.24}
PAGERANK = {"gtx980": 0.97, "tx1": 1.05}  # section 6.2; "a small slowdown" is taken as 3 %
REMOVED = {"bfs": 0.71, "sssp": 0.76}  # of the GPU's instructions, section 6.3
LEFT = {"bfs": 0.14, "sssp": 0.22}  # of the elements, sections 4.4 and 4.5
COMPACTION = (0.25, 0.40, 0.55)  # Fig. 1: least, section 3, most


@dataclass(frozen=True)
class Passes:
    """How often the unit walks an expanded edge; compaction of the next frontiers is left out, so these are least."""

    basic: float
    enhanced: float


def passes(algorithm: str, walks_dropped: bool) -> Passes:
    """BFS: filter, then move. SSSP: filter, group, then move edges, weights and distances (algorithms 2, 4 and 5)."""
    left = 1.0 if walks_dropped else LEFT[algorithm]
    return Passes(1, 1 + left) if algorithm == "bfs" else Passes(3, 1 + 4 * left)


def row(algorithm: str, gpu: str, walks_dropped: bool) -> str:
    element_ns = 1 / (WIDTH[gpu] * CLOCK_GHZ[gpu])
    k, speedup, stays = passes(algorithm, walks_dropped), ENHANCED[algorithm, gpu], 1 - REMOVED[algorithm]
    by_basic = BASIC * k.basic * element_ns
    by_enhanced = speedup * k.enhanced * element_ns
    both = element_ns * (k.enhanced - stays * k.basic) / (1 / speedup - stays / BASIC)
    # A solution in which the GPU's share is negative is none: basic and enhanced contradict each other at this width.
    fixed = f"{both:.2f}" if both >= by_basic else "none"
    how = "walked" if walks_dropped else "skipped"
    return f"| {algorithm} | {gpu} | {how} | {k.enhanced:.2f} | {by_basic:.2f} | {by_enhanced:.2f} | {fixed} |"


def pagerank_row(gpu: str) -> str:
    element_ns = 1 / (WIDTH[gpu] * CLOCK_GHZ[gpu])
    cells = []
    for share in COMPACTION:
        for_unit = 1 / PAGERANK[gpu] - (1 - share)  # of the plain time; edges and ranks: two passes
        cells.append(f"{2 * element_ns / for_unit:.2f}")
    return f"| {gpu} | " + " | ".join(cells) + " |"


def main() -> None:
    print("Least ns per expanded edge of the plain GPU\n")
    print("| algorithm | GPU | dropped elements | passes, enhanced | from basic | from enhanced | from both |")
    print("|---|---|---|---|---|---|---|")
    for algorithm, gpu in ENHANCED:
        for walks_dropped in (False, True):
            print(row(algorithm, gpu, walks_dropped))
    print("\nPageRank: ns per arc and iteration of the plain GPU, by the share of its time in compaction\n")
    print("| GPU | " + " | ".join(f"{share:.0%}" for share in COMPACTION) + " |\n|---|---|---|---|")
    for gpu in CLOCK_GHZ:
        print(pagerank_row(gpu))


if __name__ == "__main__":
    main()
