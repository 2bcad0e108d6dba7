"""Text readers beside others: MB of text per processor second, ours, SciPy's mmread and pandas, in turn, medians.

Ours is parsing alone (`read_rows`, into arrays of ends and weights), as the others' is; a CSR is built after it.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from warpsift.graph.archive import read_bytes
from warpsift.graph.limits import limits_of
from warpsift.graph.readers.text import GraphText, RowShape, read_rows

NODES, EDGES, ROUNDS = 1 << 20, 2_000_000, 5


def write(folder: Path, weighted: bool) -> tuple[Path, Path]:
    """The same random entries as Matrix Market and as an edge list."""
    rng = np.random.default_rng(1)
    columns = [part.astype("S7").tolist() for part in rng.integers(1, NODES + 1, (2, EDGES))]
    if weighted:
        columns.append(np.char.mod(b"%.6g", rng.random(EDGES)).tolist())
    rows = b"\n".join(b" ".join(row) for row in zip(*columns, strict=True)) + b"\n"
    kind = b"real" if weighted else b"pattern"
    market, edges = folder / f"{weighted}.mtx", folder / f"{weighted}.txt"
    market.write_bytes(b"%%MatrixMarket matrix coordinate " + kind + b" general\n")
    with market.open("ab") as file:
        file.write(b"%d %d %d\n" % (NODES, NODES, EDGES) + rows)
    edges.write_bytes(rows)
    return market, edges


def ours(path: Path, weighted: bool, head: int) -> None:
    text = GraphText(str(path), read_bytes(path, 1 << 32), limits_of(None, [path]))
    for _ in range(head):
        text.skip_line()
    words = "row column value" if weighted else "row column"
    ends, _ = read_rows(text, RowShape(words, reals=int(weighted), comments="%", lowest=1, highest=NODES))
    assert ends.shape[1] == EDGES


def rates(ways: dict[str, Callable[[], object]], size: int) -> str:
    """Each way in turn, so that other work on the machine disturbs all of them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            clock = time.process_time()
            way()
            seconds[name].append(time.process_time() - clock)
    return "  ".join(f"{name} {size / 1e6 / statistics.median(taken):6.0f}" for name, taken in seconds.items())


def main() -> None:
    from scipy.io import mmread

    with tempfile.TemporaryDirectory() as folder:
        for weighted in (False, True):
            market, edges = write(Path(folder), weighted)
            for path, head in ((market, 2), (edges, 0)):
                ours(path, weighted, head)  # compile
            others = {"warpsift": lambda w=weighted, p=market: ours(p, w, 2), "mmread": lambda p=market: mmread(p)}
            what = "u v w" if weighted else "u v"
            print(
                f"Matrix Market, `{what}`, MB/s of processor time:  {rates(others, market.stat().st_size)}", flush=True
            )
            ways: dict[str, Callable[[], object]] = {"warpsift": lambda w=weighted, p=edges: ours(p, w, 0)}
            try:
                import pandas
            except ImportError:
                print("edge list: pandas is not installed")
            else:
                ways["pandas"] = lambda p=edges: pandas.read_csv(p, sep=" ", header=None)
            print(f"edge list, `{what}`, MB/s of processor time:      {rates(ways, edges.stat().st_size)}", flush=True)


if __name__ == "__main__":
    main()
