"""What the memory fast-forward unit must do, said slowly: oracles for the tests of kernels, unit and studies."""

from __future__ import annotations

import numpy as np

LINE_BYTES = 128
WORD_BYTES = 4


def gather(columns, values, index, size):
    """The words of every thread: V[C[index + k]] for k < size."""
    return [[values[columns[i + k]] for k in range(n)] for i, n in zip(index, size, strict=True)]


def scatter(columns, vertices, index, size):
    """The set of vertices that become active."""
    flags = np.zeros(vertices, bool)
    for i, n in zip(index, size, strict=True):
        for k in range(n):
            flags[columns[i + k]] = True
    return flags


def words_of_commands(launches):
    """(lane, word number) of every word of every GATHER command of recorded launches, with its C index."""
    found = []
    for _, chunks in launches:
        for chunk in chunks:
            for op in chunk.ops[chunk.ops["kind"] == 6]:
                for entry in chunk.commands[op["first"] : op["first"] + op["transactions"]].tolist():
                    lane, size = (entry >> 8) & 255, entry & 255
                    found += [(lane, k, (entry >> 16) + k) for k in range(size)]
    return found


def window_requests(steps, window):
    """Requests left when each run of `window` steps of one warp asks for each line once; a step is a set of lines."""
    total = 0
    for start in range(0, len(steps), window):
        lines = set()
        for step in steps[start : start + window]:
            lines |= set(step)
        total += len(lines)
    return total
