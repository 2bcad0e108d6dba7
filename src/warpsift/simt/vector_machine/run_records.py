"""What the stream says of a traced kernel: runs of ALU instructions, waits, scoreboard slots, rows of the log.

The rules are those of `Threads` (`alu`, `spend`, `_dependences`, `_flush`, `take_slot`) and `alu_runs.Run`, with
integers in place of objects. `w`, the machine's words, are 64-bit integers; the names below say what lies where.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from warpsift.hardware import WARP_SIZE
from warpsift.simt import alu_classes
from warpsift.simt.cells import offset
from warpsift.simt.coalesce import LOG_COLUMNS, PLAIN
from warpsift.simt.stream import ALU, NO_SLOT, SLOTS
from warpsift.simt.threads import LONGEST_RUN
from warpsift.simt.vector_machine import instruction_set as i
from warpsift.simt.vector_machine.thread_values import OPTIONS

# Words that every batch begins anew
(
    PC,  # the next row of the code
    LEVEL,  # the active threads: a level of conditions and loops
    FRAME,  # conditions and loops that are open
    LOADS,  # serial number of the last load
    RUN,  # serial number of the current ALU run
    WAIT,  # slots that it waits for
    COUNT,  # its instructions
    CHAIN,  # length of its longest chain
    DEEPEST,  # place of the instruction that ends it
    FLOATS,
    SIZE,  # threads of the batch
    WRONG,  # what went wrong: an index, say
) = range(12)
# Words of the log, and of the programs
LOG_ROWS, LOG_ELEMENTS, LOG_SCOPES, LOG_GROUPS, PROGRAMS, PROGRAM_WORDS = range(16, 22)
# and how much room there is for each; the table that finds programs has a power of two of places; a level of the pool
MOST_ROWS, MOST_ELEMENTS, MOST_SCOPES, MOST_GROUPS, MOST_PROGRAMS, MOST_PROGRAM_WORDS, TABLE_MASK, POOL_LEVEL = range(
    22, 30
)

LEVELS = 64
THREADS, LOGGED = 32, 32 + LEVELS  # of each level: active threads; number of the scope in the log, or -1
WAITED = LOGGED + LEVELS  # of each level and slot: the load that these threads have already waited for
FRAMES = WAITED + LEVELS * SLOTS  # of each open condition or loop: the level outside
UNROLLED = FRAMES + LEVELS  # of the unrolled loop that runs, as in `unrolling.Group`:
(
    IN_GROUP,  # whether a group runs
    FIRST_RUN,  # serial numbers of ALU runs and loads at the group's begin ...
    FIRST_LOAD,
    THIS_RUN,  # ... and at the present iteration's
    THIS_LOAD,
    STAGE,  # memory accesses of the iteration so far
    EARLY,  # the first stage in which one used what an earlier iteration had made
    NUMBER,  # groups so far, then iterations of the rest
    STARTED,  # whether there was a group
    ITERATION,
) = range(UNROLLED, UNROLLED + 10)
BEGINS = UNROLLED + 10  # where the rows of each iteration begin in the log
MOST_UNROLLED = 16
NEVER = 1 << 30
REGISTERS = BEGINS + MOST_UNROLLED + 1  # of each register, as in `Register`:
SLOT, LOAD, IN_RUN, IN_CHAIN, IN_PLACE, COUNTS, ADDRESSED = range(7)
REGISTER_WORDS = 8

BESIDE = 7  # "needs" of an instruction that nothing waits for (alu_classes.BESIDE)


@njit(**OPTIONS)
def begin_batch(w, registers, size):
    for k in range(WRONG + 1):
        w[k] = 0
    w[DEEPEST] = -1
    w[SIZE] = size
    w[IN_GROUP] = 0
    for register in range(registers):
        forget_register(w, register)
    new_scope(w, 0, size)


@njit(**OPTIONS)
def new_scope(w, level, threads):
    """Other threads than before at this level: nothing is known of what they have waited for."""
    w[THREADS + level] = threads
    w[LOGGED + level] = -1
    for slot in range(SLOTS):
        w[WAITED + level * SLOTS + slot] = 0  # loads count from 1


@njit(**OPTIONS)
def forget_register(w, register):
    """A new register that comes from nowhere."""
    at = REGISTERS + register * REGISTER_WORDS
    w[at + SLOT] = w[at + LOAD] = w[at + IN_RUN] = -1
    w[at + IN_CHAIN] = w[at + IN_PLACE] = w[at + COUNTS] = w[at + ADDRESSED] = 0


@njit(**OPTIONS)
def comes_from(w, register, other):
    """The same value under another name; what its address arithmetic has cost is forgotten."""
    at, source = REGISTERS + register * REGISTER_WORDS, REGISTERS + other * REGISTER_WORDS
    for k in range(COUNTS):
        w[at + k] = w[source + k]
    w[at + ADDRESSED] = 0


@njit(**OPTIONS)
def comes_from_nowhere(w, register):
    """A constant is assigned to it."""
    at = REGISTERS + register * REGISTER_WORDS
    w[at + SLOT] = w[at + LOAD] = -1
    w[at + ADDRESSED] = 0


@njit(**OPTIONS)
def comes_from_load(w, register, slot):
    forget_register(w, register)
    at = REGISTERS + register * REGISTER_WORDS
    w[at + SLOT] = slot
    w[at + LOAD] = w[LOADS]


@njit(**OPTIONS)
def _has_waited(w, slot, load):
    found = False
    for level in range(w[LEVEL] + 1):
        found |= w[WAITED + level * SLOTS + slot] == load
    return found


@njit(**OPTIONS)
def _needs(w, register, wait, depth, needs):
    """`needs`: how many places, then each in 16 bits."""
    if register < 0:
        return wait, depth, needs
    at = REGISTERS + register * REGISTER_WORDS
    load = w[at + LOAD]
    if w[IN_GROUP] != 0:
        run = w[at + IN_RUN]
        if (w[FIRST_RUN] <= run and run < w[THIS_RUN]) or (w[FIRST_LOAD] < load and load <= w[THIS_LOAD]):
            w[EARLY] = min(w[EARLY], w[STAGE])
    if load > max(w[LOADS] - SLOTS, -1) and not _has_waited(w, w[at + SLOT], load):
        wait |= np.int64(1) << w[at + SLOT]
        w[WAITED + w[LEVEL] * SLOTS + w[at + SLOT]] = load
    elif w[at + IN_RUN] == w[RUN]:
        depth = max(depth, w[at + IN_CHAIN])
        count = needs & 7
        needs = (needs | (w[at + IN_PLACE] << (8 + 16 * count))) + 1
    return wait, depth, needs


@njit(**OPTIONS)
def dependences(w, a, b, c):
    """Slots to wait for, how deep in the current run these registers stand, and their places in it; -1: none."""
    wait, depth, needs = np.int64(0), np.int64(0), np.int64(0)
    wait, depth, needs = _needs(w, a, wait, depth, needs)
    wait, depth, needs = _needs(w, b, wait, depth, needs)
    return _needs(w, c, wait, depth, needs)


@njit(**OPTIONS)
def count_instruction(w, run, log, programs, row, result):
    """One ALU instruction of the row's class; `result`: the register that it makes, or -1."""
    wait, depth, needs = dependences(w, row[i.A_REG], row[i.B_REG], row[i.C_REG])
    if w[COUNT] > 0 and (wait & ~w[WAIT] != 0 or w[COUNT] >= LONGEST_RUN):
        flush(w, run, log, programs)
        depth, needs = np.int64(0), np.int64(0)
    w[WAIT] |= wait
    place = w[COUNT]
    run[place] = row[i.CLASS] | (needs & 7) << 5 | needs & ~np.int64(255)
    if depth >= w[CHAIN]:
        w[CHAIN], w[DEEPEST] = depth + 1, place
    w[FLOATS] += row[i.FLOAT]
    w[COUNT] = place + 1
    if result >= 0:
        forget_register(w, result)
        at = REGISTERS + result * REGISTER_WORDS
        w[at + IN_RUN] = w[RUN]
        w[at + IN_CHAIN] = depth + 1
        w[at + IN_PLACE] = place


@njit(**OPTIONS)
def spend(w, run, log, programs, instructions, chained, classes, first):
    """Instructions that make no register, of the classes from `first` on in turn; chained: each needs the deepest."""
    if w[COUNT] + instructions > LONGEST_RUN:
        flush(w, run, log, programs)
    kinds = classes[first]
    for k in range(instructions):
        needs = np.int64(BESIDE << 5)
        if chained:
            needs = np.int64(0) if w[DEEPEST] < 0 else np.int64(1 << 5) | w[DEEPEST] << 8
            w[DEEPEST] = w[COUNT]
        run[w[COUNT]] = classes[first + 1 + k % kinds] | needs
        w[COUNT] += 1
    if chained:
        w[CHAIN] += instructions


@njit(**OPTIONS)
def pay_address(w, run, log, programs, row):
    """The address arithmetic that this index has not paid for yet."""
    at = REGISTERS + row[i.A_REG] * REGISTER_WORDS
    product, sum_ = np.int64(1) << row[i.X], np.int64(1) << row[i.Y]
    counts = w[at + COUNTS] != 0
    if w[at + ADDRESSED] & product == 0:
        w[at + ADDRESSED] |= product
        if not counts:
            count_instruction(w, run, log, programs, row, -1)  # mul.wide
    if w[at + ADDRESSED] & sum_ == 0:
        w[at + ADDRESSED] |= sum_
        if w[COUNT] + 1 > LONGEST_RUN:
            flush(w, run, log, programs)
        needs = np.int64(BESIDE << 5)
        if not counts:
            needs = np.int64(0) if w[DEEPEST] < 0 else np.int64(1 << 5) | w[DEEPEST] << 8
            w[DEEPEST] = w[COUNT]
            w[CHAIN] += 1
        run[w[COUNT]] = alu_classes.ADD | needs
        w[COUNT] += 1


@njit(**OPTIONS)
def advance_loop(w, run):
    """Increment, compare and branch: they need the counter only, so they stand beside the body's chain."""
    place = w[COUNT]
    run[place] = alu_classes.ADD
    run[place + 1] = alu_classes.COMPARE | (1 << 5) | place << 8
    run[place + 2] = alu_classes.CONTROL | (1 << 5) | (place + 1) << 8
    w[CHAIN] = max(w[CHAIN], 2)
    w[COUNT] = place + 3


@njit(**OPTIONS)
def flush(w, run, log, programs):
    """End the current ALU run."""
    count = w[COUNT]
    if count > 0:
        if w[THREADS + w[LEVEL]] > 0:
            number = program_number(w, run, programs)
            chain = max(1, min(w[CHAIN], count))
            low = np.int64(ALU | NO_SLOT << 16) | w[WAIT] << 32 | count << 48
            write_row(w, log, PLAIN, low, number | w[FLOATS] << 32 | chain << 48, 0, 0, 0)
        w[COUNT] = w[CHAIN] = w[FLOATS] = w[WAIT] = 0
        w[DEEPEST] = -1
    w[RUN] += 1


@njit(**OPTIONS)
def program_number(w, run, programs):
    """The number of the current run's program, which may be new."""
    words, starts, table = programs
    count, mask = w[COUNT], w[TABLE_MASK]
    key = count
    for k in range(count):
        key = (key ^ run[k]) * np.int64(0x9E3779B97F4A7C15 - (1 << 64))
        key ^= key >> 29
    slot = key & mask
    while table[slot] >= 0:
        number = table[slot]
        begin = starts[number]
        if starts[number + 1] - begin == count:
            same = True
            for k in range(count):
                same &= words[begin + k] == run[k]
            if same:
                return number
        slot = (slot + 1) & mask
    number = w[PROGRAMS]
    table[slot] = number
    begin = starts[number]
    for k in range(count):
        words[begin + k] = run[k]
    starts[number + 1] = w[PROGRAM_WORDS] = begin + count
    w[PROGRAMS] = number + 1
    return number


@njit(**OPTIONS)
def _group(w, groups, threads, number):
    """Write the warps of the active threads down, as warp_groups.group_scopes would; gives where the next ones go."""
    warps, lanes, first, warp_numbers = groups
    at, n = w[LOG_GROUPS], w[THREADS + w[LEVEL]]
    k = 0
    while k < n:
        started, warp = k, threads[k] >> 5
        if n == w[SIZE]:
            k += WARP_SIZE  # all threads: all lanes of every warp
        else:
            k += 1
            while k < n and threads[k] >> 5 == warp:
                k += 1
        warps[at] = warp_numbers[warp]
        lanes[at] = k - started
        first[at + number] = started
        at += 1
    first[at + number] = n
    return at


@njit(**OPTIONS)
def scope_number(w, log):
    """The number in the log of the threads that are active."""
    _, begins, groups, _, pool = log
    level = w[LEVEL]
    number = w[LOGGED + level]
    if number < 0:
        number = w[LOGGED + level] = w[LOG_SCOPES]
        w[LOG_GROUPS] = _group(w, groups, offset(pool, level * w[POOL_LEVEL]), number)
        begins[number + 1] = w[LOG_GROUPS]
        w[LOG_SCOPES] = number + 1
    return number


@njit(**OPTIONS)
def write_row(w, log, way, low, high, end, base, itemsize):
    """A row of the recorder's log (coalesce.LOG_COLUMNS)."""
    rows = log[0]
    number = scope_number(w, log)
    at = w[LOG_ROWS] * LOG_COLUMNS
    rows[at] = way
    rows[at + 1] = low
    rows[at + 2] = high
    rows[at + 3] = number
    rows[at + 4] = end
    rows[at + 5] = base
    rows[at + 6] = itemsize
    w[LOG_ROWS] += 1


@njit(**OPTIONS)
def take_slot(w, run, log, programs, uses, returns):
    """End the ALU run in front of a long-latency instruction: the slot that its result occupies, and its waits."""
    wait, _, _ = dependences(w, uses[0], uses[1], -1)
    flush(w, run, log, programs)
    if not returns:
        return np.int64(NO_SLOT), wait
    w[LOADS] += 1
    slot = w[LOADS] % SLOTS
    if w[LOADS] > SLOTS:
        wait |= np.int64(1) << slot
    return slot, wait


@njit(**OPTIONS)
def know_program(w, run, programs, program, count):
    """Give a program that is already known elsewhere the next number here."""
    w[COUNT] = count
    for k in range(count):
        run[k] = program[k]
    program_number(w, run, programs)
    w[COUNT] = 0
