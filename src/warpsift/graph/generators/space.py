"""Points and their order along a space-filling curve, shared by the geometric generators.

A mesh's node numbers are not random: neighbours in space get near numbers, which decides how well a GPU coalesces.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

CURVE_BITS = 16  # 2^16 cells per axis: finer than the mean spacing of 2^26 points in the plane


def hilbert_keys(points: np.ndarray) -> np.ndarray:
    """Position of each point (in the unit cube of any dimension) along a Hilbert curve.

    Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004), AxestoTranspose.
    """
    cells = np.minimum((points * (1 << CURVE_BITS)).astype(np.uint64), np.uint64((1 << CURVE_BITS) - 1))
    axes = [cells[:, axis].copy() for axis in range(points.shape[1])]
    bit = 1 << (CURVE_BITS - 1)
    while bit > 1:
        low = np.uint64(bit - 1)
        for axis in range(len(axes)):
            is_set = (axes[axis] & np.uint64(bit)) != 0
            swapped = np.where(is_set, np.uint64(0), (axes[0] ^ axes[axis]) & low)
            axes[0] ^= np.where(is_set, low, swapped)
            axes[axis] ^= swapped
        bit >>= 1
    for axis in range(1, len(axes)):
        axes[axis] ^= axes[axis - 1]
    flip = np.zeros(len(points), np.uint64)
    bit = 1 << (CURVE_BITS - 1)
    while bit > 1:
        flip ^= np.where(axes[-1] & np.uint64(bit), np.uint64(bit - 1), np.uint64(0))
        bit >>= 1
    keys = np.zeros(len(points), np.uint64)
    for position in range(CURVE_BITS - 1, -1, -1):
        for cells_along in axes:
            bits = (cells_along ^ flip) >> np.uint64(position) & np.uint64(1)
            keys = np.left_shift(keys, np.uint64(1)) | bits
    return keys


def hilbert_order(points: np.ndarray) -> np.ndarray:
    """The points sorted along the curve."""
    return points[np.argsort(hilbert_keys(points), kind="stable")]


def insertion_order(points: np.ndarray) -> np.ndarray:
    """The points in biased randomised insertion order: rounds that grow by 4, each along the Hilbert curve.

    Amenta, Choi, Rote, "Incremental constructions con BRIO", SoCG 2003; ratio 1/4 and first rounds of at most 16
    as in CGAL's spatial sort, which the numbering of the DIMACS delaunay_n13 graph shows: rounds end at 32, 128,
    512, 2048 and 8192.
    """
    ends = [len(points)]
    while ends[-1] > 16:
        ends.append(ends[-1] // 4)
    ends.append(0)
    rounds = [points[first:last] for last, first in pairwise(ends)]
    return np.concatenate([hilbert_order(part) for part in reversed(rounds)])
