"""Hypervolume by inclusion and exclusion over all sets of points: slow, and plainly the volume of a union of boxes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def naive_hypervolume(points: Sequence[Sequence[float]], reference: Sequence[float]) -> float:
    boxes = [p for p in points if all(x < r for x, r in zip(p, reference, strict=True))]
    total = 0.0
    for size in range(1, len(boxes) + 1):
        for chosen in itertools.combinations(boxes, size):
            corner = [max(column) for column in zip(*chosen, strict=True)]  # of what all of them beat
            volume = math.prod(r - x for x, r in zip(corner, reference, strict=True))
            total += volume if size % 2 else -volume
    return total
