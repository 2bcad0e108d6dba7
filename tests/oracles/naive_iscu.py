"""The parts of the IRU-enhanced SCU in slow, obvious Python: one dictionary per entry, element by element."""

from __future__ import annotations

BLOCK = 32


class Parts:
    """Filters that live, and hashes that are emptied at the end of every stream."""

    def __init__(self, parts: int, entries: int, filter_entries: int) -> None:
        self.parts, self.entries, self.filter_entries = parts, entries, filter_entries
        self.passed: dict[tuple[int, int], tuple[int, set[int]]] = {}

    def stream(self, nodes: list[int], values: list | None, merge: str, filters: bool):
        """Groups that are handed back, each a list of (node, value), in the order in which entries are emptied; and for
        every element: its part, and whether it was filtered, merged or kept."""
        values = [0] * len(nodes) if values is None else values
        table: dict[tuple[int, int], tuple[int, dict]] = {}
        groups: list[list[tuple]] = []
        fate: list[tuple[int, str]] = []
        for node, value in zip(nodes, values, strict=True):
            block = node // BLOCK
            part = block % self.parts
            if filters and not self._passes(node, block, part):
                fate.append((part, "filtered"))
                continue
            place = (part, block // self.parts % self.entries)
            if place in table and table[place][0] != block:
                groups.append(sorted(table.pop(place)[1].items()))
            held = table.setdefault(place, (block, {}))[1]
            fate.append((part, "merged" if node in held else "kept"))
            if node not in held:
                held[node] = value
            elif merge == "min":
                held[node] = min(held[node], value)
            elif merge == "add":
                held[node] = held[node] + value
        groups += [sorted(table[place][1].items()) for place in sorted(table)]
        return groups, fate

    def _passes(self, node: int, block: int, part: int) -> bool:
        place = (part, block // self.parts % self.filter_entries)
        if place not in self.passed or self.passed[place][0] != block:
            self.passed[place] = (block, set())
        seen = self.passed[place][1]
        new = node not in seen
        seen.add(node)
        return new
