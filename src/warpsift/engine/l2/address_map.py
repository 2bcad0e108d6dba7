"""Which L2 slice, set, DRAM channel and channel-local address a line belongs to.

Memory is dealt out to channels in chunks of `interleave_bytes`; a channel's slices take turns chunk by chunk. The
deal is a plain modulo, a hashed one (each round of chunks is rotated by a hash of the round, so that power-of-two
strides spread and every round still uses each channel once), or pseudo-random per chunk as in the TITAN X
configuration of GPGPU-Sim.
"""

from __future__ import annotations

from warpsift.engine.core.arena import S_t
from warpsift.engine.core.division import quotient, remainder
from warpsift.engine.core.jit import compiled, i64
from warpsift.engine.l2.l2_state import HASHED, RANDOM, l2
from warpsift.hardware import LINE_BYTES

CHANNEL_SHIFT = 48  # of an address towards DRAM where a slice reads from channels of both halves


@compiled(i64, i64)
def mix_bits(value):
    """A hash that spreads low and high bits (xorshift-multiply, constants of Marsaglia's xorshift64 triple)."""
    value ^= (value << 13) & 0x7FFFFFFFFFFFFF
    value ^= value >> 7
    value ^= (value << 17) & 0x7FFFFFFFFFFFFF
    return (value ^ (value >> 29)) & 0x7FFFFFFF


@compiled(i64, S_t, i64)
def slice_of(S, line):
    """The slice that holds a line."""
    C = l2(S)
    chunk = quotient(line, C.interleave_lines, C.interleave_shift)
    if C.mapping == RANDOM:
        return mix_bits(chunk) % C.slices
    group = quotient(chunk, C.channels, C.channels_shift)
    channel = chunk - group * C.channels
    if C.mapping == HASHED:
        channel = remainder(channel + mix_bits(group), C.channels, C.channels_shift)
    return channel * C.slices_per_channel + remainder(group, C.slices_per_channel, C.slices_per_channel_shift)


@compiled(i64, S_t, i64, i64)
def slice_near(S, port, line):
    """The slice through which a client reads a line: its own, or with two halves the copy in the client's half."""
    C = l2(S)
    home = slice_of(S, line)
    if C.halves == 1:
        return home
    within = home if home < C.half_slices else home - C.half_slices
    return within + (port & 1) * C.half_slices


@compiled(i64, S_t, i64)
def local_line(S, line):
    """Line number inside the channel: the channel's part taken out of the address."""
    C = l2(S)
    chunk = quotient(line, C.interleave_lines, C.interleave_shift)
    within = line - chunk * C.interleave_lines
    return quotient(chunk, C.channels, C.channels_shift) * C.interleave_lines + within


@compiled(i64, S_t, i64, i64)
def line_at(S, channel, local):
    """The line with this number inside a channel: the way back from `slice_of` and `local_line`, not for RANDOM."""
    C = l2(S)
    group = quotient(local, C.interleave_lines, C.interleave_shift)
    place = channel
    if C.mapping == HASHED:
        place -= remainder(mix_bits(group), C.channels, C.channels_shift)
        if place < 0:
            place += C.channels
    return (group * C.channels + place) * C.interleave_lines + (local - group * C.interleave_lines)


@compiled(i64, S_t, i64, i64)
def first_row(S, slice_index, line):
    """Row of the first way of the set that a line belongs to: by its number inside the slice."""
    C = l2(S)
    chunk = quotient(line, C.interleave_lines, C.interleave_shift)
    own = quotient(chunk, C.channels, C.channels_shift)  # the channels' part taken out of the address
    if C.mapping != RANDOM:  # slices of a channel take turns chunk by chunk: taken out as well
        own = quotient(own, C.slices_per_channel, C.slices_per_channel_shift)
    inner = own * C.interleave_lines + (line - chunk * C.interleave_lines)
    if C.hashed_index != 0:
        inner += mix_bits(quotient(inner, C.sets, C.sets_shift))
    return (slice_index * C.sets + remainder(inner, C.sets, C.sets_shift)) * C.ways


@compiled(i64, S_t, i64)
def dram_address(S, line):
    """Where a line begins inside its channel; with two halves, the channel above that."""
    C = l2(S)
    address = local_line(S, line) * LINE_BYTES
    if C.halves == 1:
        return address
    return address | (quotient(slice_of(S, line), C.slices_per_channel, C.slices_per_channel_shift) << CHANNEL_SHIFT)
