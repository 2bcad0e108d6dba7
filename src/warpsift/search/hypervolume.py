"""The designs that no other beats, and how much of the space of costs they dominate. Smaller is better throughout."""

from __future__ import annotations

from collections.abc import Sequence

Costs = Sequence[float]  # one per objective


def beats(a: Costs, b: Costs) -> bool:
    """As good in every objective and better in one."""
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


def front(points: Sequence[Costs]) -> list[int]:
    """Positions of the points that none beats; of equal ones the first."""
    kept = []
    for number, point in enumerate(points):
        earlier = any(tuple(point) == tuple(other) for other in points[:number])
        if not earlier and not any(beats(other, point) for other in points):
            kept.append(number)
    return kept


def hypervolume(points: Sequence[Costs], reference: Costs) -> float:
    """Volume of what the points beat, up to the reference.

    Exact, by slices along the last objective (While et al., IEEE Trans. Evol. Comp. 10(1), 2006): between two
    neighbouring values of it, the volume is that of the points below in one dimension less, times the distance.
    """
    inside = [tuple(p) for p in points if all(x < r for x, r in zip(p, reference, strict=True))]
    if not inside:
        return 0.0
    inside = [inside[k] for k in front(inside)]
    if len(reference) == 1:
        return float(reference[0] - inside[0][0])
    inside.sort(key=lambda point: point[-1])
    edges = [*(point[-1] for point in inside[1:]), reference[-1]]
    volume = 0.0
    for number, edge in enumerate(edges, 1):
        height = edge - inside[number - 1][-1]
        if height > 0:
            volume += height * hypervolume([point[:-1] for point in inside[:number]], reference[:-1])
    return volume


def scaled_to(points: Sequence[Costs], span: Sequence[Costs]) -> list[tuple[float, ...]]:
    """Points with each objective at 0 for the least of `span` and 1 for the most."""
    least, most = ([of(column) for column in zip(*span, strict=True)] for of in (min, max))
    return [
        tuple((x - a) / (b - a) if b > a else 0.0 for x, a, b in zip(point, least, most, strict=True))
        for point in points
    ]
