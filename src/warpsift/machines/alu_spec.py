"""Classes of ALU instructions, with the latency and the initiation interval that a machine gives to each.

    [sm]
    alu_by_class = true
    [sm.alu]
    int_add = { latency_cycles = 10, initiation_cycles = 1 }

Without `alu_by_class` a machine has one latency for all (`sm.alu_latency_cycles`) and starts one instruction per cycle
and scheduler. A class without a latency of its own has that one too.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from warpsift.machines.bounds import LATENCY
from warpsift.machines.ranges import Bounds

_INITIATION = Bounds(1, 1000, "cycles", "the slowest published, a division of doubles, takes 130")


class AluTiming(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One class; its instructions occupy the scheduler's issue port for `initiation_cycles`."""

    latency_cycles: Annotated[int, LATENCY] = 0  # issue to issue of one that needs it; 0: sm.alu_latency_cycles
    initiation_cycles: Annotated[int, _INITIATION] = 1


class Alu(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The classes, in the order of their numbers in the stream (`simt/alu_classes.py`)."""

    int_add: AluTiming = AluTiming()  # add and subtract
    int_minmax: AluTiming = AluTiming()
    int_mul: AluTiming = AluTiming()
    int_mad: AluTiming = AluTiming()
    int_div: AluTiming = AluTiming()  # quotient or remainder
    float_add: AluTiming = AluTiming()  # 32 bits
    float_minmax: AluTiming = AluTiming()
    float_mul: AluTiming = AluTiming()
    float_mad: AluTiming = AluTiming()
    float_div: AluTiming = AluTiming()
    double_add: AluTiming = AluTiming()  # 64 bits
    double_minmax: AluTiming = AluTiming()
    double_mul: AluTiming = AluTiming()
    double_mad: AluTiming = AluTiming()
    double_div: AluTiming = AluTiming()
    logic: AluTiming = AluTiming()  # and, or, xor, not, shifts, moves
    compare: AluTiming = AluTiming()  # comparisons and selections
    convert: AluTiming = AluTiming()
    special: AluTiming = AluTiming()  # of the special function unit: population count
    shuffle: AluTiming = AluTiming()  # between lanes: shuffles and votes
    control: AluTiming = AluTiming()  # branches and the end


ALU_CLASSES = tuple(Alu.__struct_fields__)
