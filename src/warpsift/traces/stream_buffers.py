"""Growing buffers for the stream of some CTAs, to which instructions are appended as a trace has them."""

from __future__ import annotations

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt.stream import OP, Chunk
from warpsift.simt.warp_groups import order_by_warp


class StreamBuffers:
    """Records with the warp of each, and transactions, until they become a chunk."""

    def __init__(self) -> None:
        self._warp = np.empty(1 << 16, np.int32)
        self._op = np.empty((1 << 16, 2), np.int64)
        self._tx = np.empty(1 << 17, np.int64)
        self._used = np.zeros(2, np.int64)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self._warp, self._op, self._tx, self._used

    @property
    def ops(self) -> int:
        return int(self._used[0])

    @property
    def transactions(self) -> int:
        return int(self._used[1])

    def reserve(self, instructions: int) -> None:
        """Make room for as many instructions, each of which may touch a line per lane and say which words of it."""
        ops, tx = self.ops + 2 * instructions, self.transactions + 2 * WARP_SIZE * instructions
        if ops > len(self._warp):
            self._warp = np.concatenate([self._warp, np.empty(max(ops, len(self._warp)), np.int32)])
            self._op = np.concatenate([self._op, np.empty((max(ops, len(self._op)), 2), np.int64)])
        if tx > len(self._tx):
            self._tx = np.concatenate([self._tx, np.empty(max(tx, len(self._tx)), np.int64)])

    def take(self, warps: int, ctas: int) -> Chunk:
        """Everything so far as a chunk; the buffers are empty afterwards."""
        first, ops = order_by_warp(self._warp, self._op, self.ops, warps)
        transactions = self._tx[: self.transactions].copy()
        self._used[:] = 0
        return Chunk(ops.reshape(-1).view(OP), first, transactions, ctas)
