"""How the nodes of DIMACS10's generated graphs are numbered, by the sizes of their compressed files.

A file is smaller where neighbours have near numbers, so its size tells between numberings of one graph:

    python benchmarks/numbering.py rgg 21        # the order of the points, 2 minutes each
    python benchmarks/numbering.py kron 18       # shuffled or as drawn, with the counts of parallel edges
    python benchmarks/numbering.py delaunay 21

Matrix Market writes row and column of every edge. Rutherford and Boeing write rows alone, in fields of fixed width, and
where each column begins. rgg's archives hold coordinates too, of unknown digits: only the difference of the two is of
the edges. Published: the University of Florida's collection, page of each matrix (2011), in MB; ours are of 2^20 bytes.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator

import numpy as np

from warpsift.graph.generators import rmat
from warpsift.graph.generators.rgg import radius_of
from warpsift.graph.loading import load_graph

PUBLISHED = {  # Matrix Market, Rutherford and Boeing
    ("rgg", 21): (55, 37),
    ("kron", 17): (17, 14),
    ("kron", 18): (36, 30),
    ("kron", 19): (77, 64),
    ("delaunay", 21): (16, 16),
}
PIECE = 1 << 20  # numbers that are written at a time
LINE = 80  # characters of Rutherford and Boeing's lines


def compressed(pieces: Iterator[bytes]) -> int:
    squeeze = zlib.compressobj(6)
    return sum(len(squeeze.compress(piece)) for piece in pieces) + len(squeeze.flush())


def fixed_width(numbers: np.ndarray) -> Iterator[bytes]:
    width = len(str(int(numbers.max()))) + 1
    per_line = LINE // width
    step = PIECE // per_line * per_line
    for first in range(0, len(numbers), step):
        words = np.char.mod(f"%{width}d", numbers[first : first + step])
        lines = ("".join(words[at : at + per_line]) for at in range(0, len(words), per_line))
        yield ("\n".join(lines) + "\n").encode()


def as_text(columns: list[np.ndarray]) -> Iterator[bytes]:
    for first in range(0, len(columns[0]), PIECE):
        part = [column[first : first + PIECE].tolist() for column in columns]
        yield "".join(" ".join(map(str, row)) + "\n" for row in zip(*part, strict=True)).encode()


def sizes(nodes: int, one: np.ndarray, other: np.ndarray, counted: bool) -> tuple[float, float]:
    """MB of both formats: the lower triangle by columns, numbers from 1, parallel edges as counts or not at all."""
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other).astype(np.int64)
    apart = low != high
    edges, counts = np.unique(low[apart] * nodes + high[apart], return_counts=True)
    low, high = edges // nodes, edges % nodes
    begins = np.concatenate([[0], np.cumsum(np.bincount(low, minlength=nodes))])
    values = [counts] if counted else []
    market = compressed(as_text([high + 1, low + 1, *values]))
    boeing = sum(compressed(fixed_width(column)) for column in (begins + 1, high + 1, *values))
    return market / 2**20, boeing / 2**20


def rgg(scale: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    from scipy.spatial import cKDTree

    radius = radius_of(1 << scale)
    points = np.random.default_rng(1).random((1 << scale, 2))
    orders = {
        "by the first coordinate": np.argsort(points[:, 0]),
        "along columns of one radius": np.lexsort((points[:, 1], points[:, 0] // radius)),
        "along columns of 16": np.lexsort((points[:, 1], points[:, 0] // (16 * radius))),
        "as drawn": np.arange(1 << scale),
    }
    for name, order in orders.items():
        pairs = cKDTree(points[order]).query_pairs(radius, output_type="ndarray")
        yield name, pairs[:, 0], pairs[:, 1]


def kron(scale: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(1)
    one, other = rmat.rmat_arcs(scale, rmat.KRON_EDGE_FACTOR << scale, rmat.GRAPH500, rng)
    shuffled = rng.permutation(1 << scale)
    yield "shuffled", shuffled[one], shuffled[other]
    yield "as drawn", one, other


def delaunay(scale: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    graph = load_graph(f"delaunay-{scale}")
    sources = np.repeat(np.arange(graph.nodes), np.diff(graph.offsets))
    yield "in rounds along a Hilbert curve", sources, graph.targets
    order = np.random.default_rng(1).permutation(graph.nodes)
    yield "shuffled", order[sources], order[graph.targets]


KINDS: dict[str, Callable[[int], Iterator[tuple[str, np.ndarray, np.ndarray]]]] = {
    "rgg": rgg,
    "kron": kron,
    "delaunay": delaunay,
}


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS or not sys.argv[2].isdigit():
        raise SystemExit(__doc__)
    kind, scale = sys.argv[1], int(sys.argv[2])
    print("| numbering | Matrix Market, MB | Rutherford and Boeing, MB | difference |\n|---|---|---|---|")
    for name, one, other in KINDS[kind](scale):
        market, boeing = sizes(1 << scale, one, other, counted=kind == "kron")
        print(f"| {name} | {market:.1f} | {boeing:.1f} | {market - boeing:.1f} |", flush=True)
    if (kind, scale) in PUBLISHED:
        market, boeing = PUBLISHED[kind, scale]
        print(f"| published | {market} | {boeing} | {market - boeing} |")


if __name__ == "__main__":
    main()
