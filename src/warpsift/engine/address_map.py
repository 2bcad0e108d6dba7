"""Which L2 slice, DRAM channel and channel-local address a line belongs to.

Memory is dealt out to channels in chunks of `interleave_bytes`; a channel's slices take turns chunk by chunk. The
deal is a plain modulo, a hashed one (each round of chunks is rotated by a hash of the round, so that power-of-two
strides spread and every round still uses each channel once), or pseudo-random per chunk as in the TITAN X
configuration of GPGPU-Sim.
"""

from __future__ import annotations

from warpsift.engine.layout import i64, kernel

MODULO, HASHED, RANDOM = 0, 1, 2
MAPPINGS = {"modulo": MODULO, "hashed": HASHED, "random": RANDOM}


@kernel(i64, i64)
def mix_bits(value):
    """A hash that spreads low and high bits (xorshift-multiply, constants of Marsaglia's xorshift64 triple)."""
    value ^= (value << 13) & 0x7FFFFFFFFFFFFF
    value ^= value >> 7
    value ^= (value << 17) & 0x7FFFFFFFFFFFFF
    return (value ^ (value >> 29)) & 0x7FFFFFFF
