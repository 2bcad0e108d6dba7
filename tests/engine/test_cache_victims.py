"""The victim of a cache set beside a loop that says what it is."""

import numpy as np
import pytest

from warpsift.engine.core.arena import Arena
from warpsift.engine.core.cache_sets import LINE, victim_row
from warpsift.engine.core.jit import from_python


def least_recent(lines, base, ways):
    """Of the lines that nobody fills, the first that was used longest ago; -1 if there is none."""
    free = [row for row in range(base, base + ways) if not lines[row].pending]
    return min(free, key=lambda row: lines[row].used, default=-1)


@pytest.mark.parametrize("ways", [1, 3, 16, 1024])
def test_the_victim_is_the_least_recently_used_line_that_nobody_fills(ways):
    arena, rng = Arena(), np.random.default_rng(ways)
    victim = from_python(victim_row)
    address = arena.table("lines", LINE, 2 * ways)
    lines = arena.arrays["lines"]
    for used, pending in ((3, 0.0), (3, 0.5), (1 << 48, 0.5), (1, 0.0), (9, 1.0)):  # few stamps: many are equal
        lines["used"] = rng.integers(0, used, 2 * ways)
        lines["pending"] = rng.random(2 * ways) < pending
        for base in (0, ways):
            assert victim(address, base, ways) == least_recent(lines, base, ways)
    arena.close()
