"""The timing engine with one more thing sampled for timelines: the warps that each SM holds."""

from __future__ import annotations

import numpy as np

from warpsift.engine import Engine
from warpsift.engine.engine import SAMPLED


class SampledEngine(Engine):
    """An engine that also samples how many warps each SM holds."""

    def _sample_addresses(self) -> dict[str, int]:
        resident = self._arena.arrays["sms"]["warps_resident"]
        per_sm = {
            f"sm{i}_resident_warps": self._arena.adopt(f"sample.sm{i}", resident[i : i + 1])
            for i in range(self.machine.sm.count)
        }
        return {**super()._sample_addresses(), **per_sm}

    def samples(self) -> dict[str, np.ndarray]:
        """The sampled counters, cumulative, and the warps resident on each SM."""
        Z = self._arena.arrays["sampler"][0]
        width = int(Z.counters) + 1
        rows = self._arena.arrays["sampler.samples"][: int(Z.count) * width].reshape(-1, width)
        names = ["cycle", *SAMPLED, *(f"sm{i}_resident_warps" for i in range(self.machine.sm.count))]
        return {name: rows[:, i].copy() for i, name in enumerate(names)}
