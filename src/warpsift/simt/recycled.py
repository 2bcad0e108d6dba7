"""Memory of the stream that is used again once nobody uses it any more.

Every chunk needs megabytes, and fresh ones cost: the system clears each page when it is first touched, up to a quarter
of the time that recording takes. An array that is given out here is an ordinary one. When the last view of it is gone
its memory comes back, and the next chunk gets it.
"""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np

SMALLEST = 1 << 13  # words of 8 bytes: below that the allocator has some at hand
KEPT_WORDS = 1 << 26  # 512 MB at most wait for their next use


class _Lease:
    """What stands behind an array that was given out: it goes when the array and all its views are gone."""

    def __init__(self, memory: Recycled, words: np.ndarray) -> None:
        self._memory = memory
        self._words = words

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._words.__array_interface__

    def __del__(self) -> None:
        self._memory.take_back(self._words)


class Recycled:
    def __init__(self) -> None:
        self._free: dict[int, list[np.ndarray]] = {}  # by their size, a power of two
        self._kept = 0
        self._lock = RLock()  # arrays end in the thread that times them; and here, should Python collect garbage

    def words(self, count: int) -> np.ndarray:
        """An array of so many int64, whatever they hold."""
        if count < SMALLEST:
            return np.empty(count, np.int64)
        size = 1 << (count - 1).bit_length()
        with self._lock:
            free = self._free.get(size)
            words = free.pop() if free else None
            self._kept -= size if words is not None else 0
        return np.asarray(_Lease(self, np.empty(size, np.int64) if words is None else words))[:count]

    def take_back(self, words: np.ndarray) -> None:
        """Keep it for the next who wants as much, unless much is kept already."""
        with self._lock:
            if self._kept + words.size <= KEPT_WORDS:
                self._kept += words.size
                self._free.setdefault(words.size, []).append(words)
