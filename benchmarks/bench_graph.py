"""How fast graphs are read and made: goals are 10 M text edges in 10 s and dblp-2010 from BV in 1 s, both warm."""

from __future__ import annotations

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from warpsift.graph import CsrGraph, load_graph
from warpsift.graph.presets import presets

DATA = Path(__file__).parents[2] / "shared" / "data"
TEXT_EDGES = 10_000_000
TEXT_NODES = 1 << 20
REPEATS = 3


def timed(work: Callable[[], CsrGraph], repeats: int) -> tuple[float, CsrGraph]:
    """Median seconds and the last result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        graph = work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), graph


def row(what: str, seconds: float, note: str = "") -> None:
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{what:<44} {seconds:8.2f} s  {peak_gb:5.2f} GB peak so far  {note}", flush=True)


def write_list(path: Path, weighted: bool) -> None:
    """A SNAP-like list of random edges, written quickly."""
    ends = np.random.default_rng(1).integers(0, TEXT_NODES, (TEXT_EDGES, 2))
    words = ends.astype("S7")
    parts = [words[:, 0], words[:, 1]]
    if weighted:
        parts.append(np.char.mod(b"%.4f", np.random.default_rng(2).random(TEXT_EDGES)))
    with path.open("wb") as file:
        for first in range(0, TEXT_EDGES, 100_000):
            columns = [part[first : first + 100_000].tolist() for part in parts]
            file.write(b"\n".join(b" ".join(line) for line in zip(*columns, strict=True)) + b"\n")


def read_text(folder: Path) -> None:
    small = folder / "small.txt"
    small.write_text("0 1\n")
    load_graph(small, cache=False)  # compile, or fetch what was compiled
    for weighted in (False, True):
        path = folder / ("weighted.txt" if weighted else "plain.txt")
        write_list(path, weighted)
        seconds, graph = timed(lambda path=path: load_graph(path, cache=False), REPEATS)
        kind = "`u v w`" if weighted else "`u v`"
        row(f"{TEXT_EDGES // 10**6} M edges of text, {kind}", seconds, f"{graph.edges} arcs; goal 10 s")
        load_graph(path)
        seconds, _ = timed(lambda path=path: load_graph(path), REPEATS)
        row("  the same from the cache", seconds)
        path.unlink()


def read_real() -> None:
    if not DATA.is_dir():
        print("real graphs: skipped, the folder ../shared/data is missing")
        return
    bv = DATA / "dblp-2010" / "dblp-2010.graph"
    load_graph(bv, cache=False)
    seconds, graph = timed(lambda: load_graph(bv, cache=False), REPEATS)
    row("dblp-2010 from BV", seconds, f"{graph.edges} arcs; goal 1 s")
    for name in ("wave.graph.bz2", "soc-Epinions1.txt.gz", "BAY.gr.xz"):
        seconds, graph = timed(lambda name=name: load_graph(DATA / name, cache=False), REPEATS)
        row(name, seconds, f"{graph.edges} arcs")


def make_presets() -> None:
    for preset in presets().values():
        seconds, graph = timed(lambda name=preset.name: load_graph(name, cache=False), 1)
        nodes, arcs = graph.nodes / preset.nodes, graph.edges / preset.arcs
        row(f"stand-in {preset.name}", seconds, f"nodes x {nodes:.3f}, arcs x {arcs:.3f} of the original")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("WARPSIFT_CACHE_DIR")
        os.environ["WARPSIFT_CACHE_DIR"] = folder
        try:
            read_text(Path(folder))
            read_real()
            make_presets()
        finally:
            os.environ.pop("WARPSIFT_CACHE_DIR")
            if before is not None:
                os.environ["WARPSIFT_CACHE_DIR"] = before


if __name__ == "__main__":
    main()
