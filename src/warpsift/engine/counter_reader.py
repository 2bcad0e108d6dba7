"""All counters of an engine in one read: the records of components lie in one block, so a counter is a word of it.

A launch of few threads is simulated in less time than Python takes to ask for a hundred fields one by one, and a graph
of many levels has thousands of such launches.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsift.engine.core.arena import Arena
from warpsift.engine.counters import is_peak

OF_SMS = {"resident_warp_cycles": "warp_cycles", "sm_active_cycles": "active_cycles"}  # sums over the SMs' table


class CounterReader:
    """Reads the counters that each component's record has, and those that are sums over the SMs."""

    def __init__(self, arena: Arena, counters: Mapping[str, Mapping[str, str]]) -> None:
        block = arena.arrays["block"]
        self._words = block[: block.size // 8 * 8].view(np.int64)
        self._sms = arena.arrays["sms"]
        places = []
        for part, group in counters.items():
            record = arena.arrays[part]
            begin, fields = record.ctypes.data - block.ctypes.data, record.dtype.fields
            assert fields is not None and begin + record.nbytes <= block.nbytes
            places += [(begin + fields[name][1]) // 8 for name in group]
        self._places = np.array(places, np.int64)
        self.names = [*(name for group in counters.values() for name in group), *OF_SMS]
        self._peaks = np.array([is_peak(name) for name in self.names])

    def read(self) -> np.ndarray:
        """Every counter as it is now, in the order of `names`."""
        return np.append(self._words[self._places], [self._sms[column].sum() for column in OF_SMS.values()])

    def forget_peaks(self) -> None:
        """Counters that are the largest value seen begin anew."""
        self._words[self._places[self._peaks[: len(self._places)]]] = 0

    def since(self, before: np.ndarray) -> dict[str, int]:
        """What each counter has counted since a reading; a peak is what it is."""
        now = self.read()
        return self.named(np.where(self._peaks, now, now - before))

    def named(self, values: np.ndarray) -> dict[str, int]:
        return dict(zip(self.names, values.tolist(), strict=True))
