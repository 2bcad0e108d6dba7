"""The order of a leap and what came of it: words of a table."""

from __future__ import annotations

from warpsift.engine.core.jit import compiled, i64, void
from warpsift.engine.core.words import load, store

LEAPT, FEW = 4, 5  # what a leap answers beside NEED_WORK: it is where it should be, or few warps are left

# What is ordered: until when (in a leap's time); whether no CTAs will follow, and at how many warps it ends then;
# whether it begins; of a rehearsal, memory instructions or, if they have any, their line transactions; cycles that a
# load takes, a command to a unit, and the load-store unit for a line (times PACE_ONE).
UNTIL, FINAL, FLOOR, FRESH, MOST_OPS, MOST_LINES, LATENCY, COMMAND_LATENCY, PACE = range(9)
# Tables: per warp slot what it has in flight and counts of that, which of its scoreboard slots commands hold, when it
# goes on, slots of an SM by age, the place of each among them and how old the warp is that has it; per SM when its
# load-store unit is free, and when it has to be looked at again.
P_BUSY, P_COUNTS, P_COMMANDS, P_WAKE, P_RANKED, P_PLACES, P_AGES, P_FREE, P_NEXT = range(9, 18)
# What came of it: its time, memory instructions and of these commands that are waited for, lines, instructions; and
# whether a barrier has let warps go in the present turn.
REACHED, OPS, COMMANDS, TRANSACTIONS, INSTRUCTIONS, LET_GO = range(18, 24)
WORDS = 24
PACE_ONE = 256


@compiled(void, i64, i64, i64)
def tally(p, index, amount):
    store(p, index, load(p, index) + amount)
