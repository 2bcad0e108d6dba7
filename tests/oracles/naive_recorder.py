"""A recorder without a log: every instruction of every warp is written down at once, lane by lane, in plain Python."""

from __future__ import annotations

import numpy as np

from oracles import naive_simt as naive
from warpsift.simt.alu_runs import Programs
from warpsift.simt.coalesce import ATOMICS, COMMANDS, LINES, STORES
from warpsift.simt.scope import Scope
from warpsift.simt.stream import LINE_SHIFT, OP, REPEAT_SHIFT, Chunk


def store_transactions(addresses: list[int], size: int) -> tuple[list[int], list[int]]:
    """The lines of a store, and the words that they cover if any sector is covered in part."""
    words = naive.covered_words(addresses, size)
    lines, any_partial = [], False
    for line, sectors in naive.line_transactions(addresses):
        partial = sum(1 << s for s in range(4) if sectors >> s & 1 and words[line] >> 8 * s & 255 != 255)
        any_partial |= partial != 0
        lines.append(line << LINE_SHIFT | partial << REPEAT_SHIFT | sectors)
    masks = list(words.values())[::-1] + [0] * (len(words) % 2)
    pairs = [masks[k] | masks[k + 1] << 32 for k in range(0, len(masks), 2)]
    return lines, [pair - (1 << 64) * (pair >> 63) for pair in pairs] if any_partial else []


class NaiveRecorder:
    def __init__(self) -> None:
        self.programs = Programs()
        self.forget()

    def forget(self) -> None:
        self.warps: dict[int, list[np.void]] = {}
        self.transactions: list[int] = []
        self.commands: list[int] = []

    def _append(self, warp: int, low: int, high: int, **fields: int) -> None:
        op = np.array([low, high], np.int64).view(OP)[0]
        for name, value in fields.items():
            op[name] = value
        self.warps.setdefault(warp, []).append(op)

    @staticmethod
    def _threads_of(scope: Scope) -> dict[int, list[int]]:
        """Warp -> places of its active threads in the scope."""
        found: dict[int, list[int]] = {}
        for place, thread in enumerate(scope.index.tolist()):
            found.setdefault(int(scope.batch.warp_numbers[thread // 32]), []).append(place)
        return found

    def plain(self, scope: Scope, low: int, high: int) -> None:
        for warp, places in self._threads_of(scope).items():
            self._append(warp, low, high, lanes=len(places))

    def memory(self, way: int, scope: Scope, elements: np.ndarray, place: tuple[int, int], low: int, high: int) -> None:
        base, size = place
        assert way != COMMANDS
        for warp, places in self._threads_of(scope).items():
            addresses = [base + size * int(elements[k]) for k in places]
            if way not in (LINES, STORES, ATOMICS):
                self._append(warp, low, high, lanes=len(places), count=naive.bank_passes(addresses, size))
                continue
            first, behind = len(self.transactions), []
            if way == LINES:
                found = naive.line_transactions(addresses)
                self.transactions += [line << LINE_SHIFT | 1 << REPEAT_SHIFT | sectors for line, sectors in found]
            elif way == STORES:
                lines, behind = store_transactions(addresses, size)
                self.transactions += lines
            else:
                sectors = naive.atomic_transactions(addresses)
                self.transactions += [
                    (s // 4) << LINE_SHIFT | turns << REPEAT_SHIFT | 1 << s % 4 for s, turns in sectors.items()
                ]
            fields = {"first": first, "transactions": len(self.transactions) - first}
            self._append(warp, low, high, lanes=len(places), **fields)
            self.transactions += behind

    def command(self, scope: Scope, entries: np.ndarray, wanted: np.ndarray, low: int, high: int) -> None:
        for warp, places in self._threads_of(scope).items():
            mine = [int(entries[k]) for k in places if wanted[k]]
            self._append(warp, low, high, lanes=len(places), first=len(self.commands), transactions=len(mine))
            self.commands += mine

    def finish(self, warps: int, ctas: int) -> Chunk:
        lists = [self.warps.get(w, []) for w in range(warps)]
        ops = np.array([op for mine in lists for op in mine], OP)
        first = np.cumsum([0, *(len(mine) for mine in lists)])
        chunk = Chunk(
            ops, first, np.array(self.transactions, np.int64), ctas, np.array(self.commands, np.int64),
            self.programs.known,
        )  # fmt: skip
        self.forget()
        return chunk
