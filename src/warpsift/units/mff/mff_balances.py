"""Balances of the memory fast-forward unit: every word and message, from the stream to the core that wanted it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpsift.simt.stream import COMMAND, COMMAND_UNIT_SHIFT, POST, Chunk
from warpsift.units.mff.mff_state import SOCKET


@dataclass
class Expected:
    """What the commands of a launch must lead to."""

    gathers: int = 0
    scatters: int = 0
    words_gathered: int = 0
    bits_set: int = 0

    def add(self, chunk: Chunk) -> None:
        ops = chunk.ops[chunk.ops["detail"] >> COMMAND_UNIT_SHIFT == SOCKET]
        gathers, scatters = ops[ops["kind"] == COMMAND], ops[ops["kind"] == POST]
        self.gathers += len(gathers)
        self.scatters += len(scatters)
        self.words_gathered += _words(chunk, gathers)
        self.bits_set += _words(chunk, scatters)


def _words(chunk: Chunk, ops: np.ndarray) -> int:
    """Words that these commands ask for, over all their threads."""
    if len(ops) == 0:
        return 0
    sums = np.concatenate([[0], np.cumsum(np.asarray(chunk.commands, np.int64) & 255)])
    first = ops["first"].astype(np.int64)
    return int((sums[first + ops["transactions"]] - sums[first]).sum())


def balances(c: Mapping[str, int], M: Any, expected: Expected) -> dict[str, tuple[int, int]]:
    return {
        "fast-forward gathers accepted": (c["mff_gather_commands"], expected.gathers),
        "fast-forward scatters accepted": (c["mff_scatter_commands"], expected.scatters),
        "fast-forward words asked for": (c["mff_words"], expected.words_gathered + expected.bits_set),
        "fast-forward words sent": (c["mff_words_sent"], expected.words_gathered),
        "fast-forward bits set": (c["mff_scatter_bits"], expected.bits_set),
        "fast-forward words received": (int(M.words_received), int(M.mff_words_sent)),
        "fast-forward completion messages sent": (c["mff_completion_messages"], expected.gathers),
        "fast-forward completion messages received": (int(M.messages_received), int(M.mff_completion_messages)),
        "fast-forward job entries allocated": (c["mff_jobs"], expected.gathers + expected.scatters),
        "fast-forward job entries free": (int(M.jobs_used), 0),
        "fast-forward commands finished": (int(M.commands_used), 0),
        "fast-forward registers free": (int(M.registers_used), 0),
        "fast-forward tags free": (int(M.tags_used), 0),
        "fast-forward lines free": (int(M.lines_used), 0),
    }
