"""The order of warps in a leap beside a plain sort: warps go, others come, and a rehearsal takes all of it back."""

from __future__ import annotations

import numpy as np

from warpsift.engine.core.jit import from_python
from warpsift.engine.leap.leap_turns import COUNT, rank_warps
from warpsift.engine.leap.sampled_engine import SampledEngine
from warpsift.engine.sm.sm_state import EMPTY, READY, WARPS
from warpsift.machines import load_machine


def test_warps_stand_by_age_whoever_has_come_gone_or_returned():
    engine, rng, sm = SampledEngine(load_machine("tx1"), sample=20), np.random.default_rng(1), 1
    rank = from_python(rank_warps)
    for place, table in engine._tables.items():
        engine._order[place] = table
    arrays = engine._arena.arrays
    mine = slice(sm * WARPS, (sm + 1) * WARPS - 1)
    warps, ranked, places = arrays["sm.warps"][mine], arrays["leap.ranked"][sm * WARPS :], arrays["leap.places"][mine]
    warps["state"], age, before = EMPTY, 0, warps.copy()
    for step in range(60):
        if step % 7 == 3:
            before, kept_age = warps.copy(), age
        elif step % 7 == 6:  # a rehearsal is over: warps that ended in it are back, and their successors' ages are free
            warps[:], age = before, kept_age
        else:
            gone, come = rng.random((2, len(warps))) < 0.3
            warps["state"][gone] = EMPTY
            for slot in rng.permutation(np.flatnonzero(come & (warps["state"] == EMPTY))):
                warps["state"][slot], warps["age"][slot], age = READY, age, age + 1
        rank(engine._S, engine._p_order, sm)
        present = np.flatnonzero(warps["state"] != EMPTY)
        expected = present[np.argsort(warps["age"][present])].tolist()
        assert ranked[: int(ranked[COUNT])].tolist() == expected
        assert places[expected].tolist() == list(range(len(expected)))
    engine.close()
