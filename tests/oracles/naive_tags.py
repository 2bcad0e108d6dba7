"""A cache of lines and sectors as one would write it down: sets as lists, the least recently used line first."""

from __future__ import annotations

from collections.abc import Callable


class NaiveTags:
    """Write-back, allocating on reads and writes alike; a read that misses brings its sectors, or the whole line."""

    def __init__(self, ways: int, place: Callable[[int], tuple[int, int]], whole_line: bool) -> None:
        self.ways, self.place, self.whole_line = ways, place, whole_line  # place: line -> slice and set
        self.sets: dict[tuple[int, int], list[int]] = {}
        self.valid: dict[int, int] = {}
        self.dirty: dict[int, int] = {}

    def touch(self, line: int, sectors: int, writes: bool) -> None:
        lines = self.sets.setdefault(self.place(line), [])
        if line in lines:
            lines.remove(line)
        elif len(lines) == self.ways:
            gone = lines.pop(0)
            del self.valid[gone], self.dirty[gone]
        lines.append(line)
        misses = not writes and sectors & ~self.valid.get(line, 0)
        self.valid[line] = self.valid.get(line, 0) | (15 if misses and self.whole_line else sectors)
        self.dirty[line] = self.dirty.get(line, 0) | (sectors if writes else 0)
