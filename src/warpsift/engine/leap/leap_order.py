"""The order of a leap and what came of it: words of a table."""

from __future__ import annotations

from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store

LEAPT, FEW = 4, 5  # what a leap answers beside NEED_WORK: it is where it should be, or few warps are left

# What is ordered: until when (in a leap's time); whether no CTAs will follow, and at how many warps it ends then;
# whether it begins; of a rehearsal, memory instructions or, if they have any, their line transactions; cycles that a
# load takes, and the load-store unit for a line (times PACE_ONE); instructions to pass over, of so many in all.
UNTIL, FINAL, FLOOR, FRESH, MOST_OPS, MOST_LINES, LATENCY, PACE, TO_PASS, IN_ALL = range(10)
# Tables: per warp slot what it has in flight and counts of that, when it goes on, slots of an SM by age; per SM
# when its load-store unit is free, and when it has to be looked at again.
P_BUSY, P_COUNTS, P_WAKE, P_RANKED, P_FREE, P_NEXT = range(10, 16)
# What came of it: its time, memory instructions, line transactions and instructions; of those that were passed over.
REACHED, OPS, TRANSACTIONS, INSTRUCTIONS, PASSED_TRANSACTIONS, PASSED_INSTRUCTIONS = range(16, 22)
WORDS = 22
PACE_ONE = 256


@compiled(void, i64, i64, i64)
def tally(p, index, amount):
    store(p, index, load(p, index) + amount)
