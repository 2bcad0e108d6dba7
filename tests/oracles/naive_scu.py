"""The Stream Compaction Unit in slow, obvious Python: what the compiled one is compared with."""

from __future__ import annotations

import numpy as np


def bit(words: np.ndarray, i: int) -> bool:
    return bool(int(words[i // 32]) >> (i % 32) & 1)


def pack(flags: list[bool]) -> np.ndarray:
    """Flags as 32-bit words."""
    words = np.zeros(max(1, -(-len(flags) // 32)), np.uint32)
    for i, flag in enumerate(flags):
        if flag:
            words[i // 32] |= np.uint32(1 << (i % 32))
    return words


def expand(data, index, counts, mask=None) -> list:
    """data[index[i] : index[i] + counts[i]] where mask[i], one after the other."""
    out: list = []
    for i, (first, count) in enumerate(zip(index, counts, strict=True)):
        if mask is None or mask[i]:
            out += list(data[first : first + count])
    return out


def replicate(data, counts, mask=None) -> list:
    out: list = []
    for i, count in enumerate(counts):
        if mask is None or mask[i]:
            out += [data[i]] * int(count)
    return out


MULTIPLIER = 2654435761


def set_of(key: int, sets: int) -> int:
    return (key * MULTIPLIER % 2**32) * sets // 2**32


class Filter:
    """Sets of first-in, first-out lists of (id, cost)."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets = [[] for _ in range(sets)]
        self.ways = ways

    def keep(self, element: int, cost=None) -> bool:
        entries = self.sets[set_of(element, len(self.sets))]
        for entry in entries:
            if entry[0] == element:
                if cost is None or cost >= entry[1]:
                    return False
                entry[1] = cost
                return True
        if len(entries) == self.ways:
            entries.pop(0)
        entries.append([element, cost])
        return True


def group(elements: list[int], sets: int, ways: int, most: int, per_block: int = 32) -> list[int]:
    """The place of every element."""
    table: list[list[list]] = [[] for _ in range(sets)]  # entries: [block, [element numbers]], oldest first
    place = [-1] * len(elements)
    following = 0

    def evict(entry) -> None:
        nonlocal following
        for number in entry[1]:
            place[number] = following
            following += 1

    for number, element in enumerate(elements):
        block = element // per_block
        entries = table[set_of(block, sets)]
        entry = next((e for e in entries if e[0] == block), None)
        if entry is None:
            if len(entries) == ways:
                evict(entries.pop(0))
            entries.append([block, [number]])
        elif len(entry[1]) == most:
            evict(entry)
            entry[1] = [number]
        else:
            entry[1].append(number)
    for entries in table:
        for entry in entries:
            evict(entry)
    return place
