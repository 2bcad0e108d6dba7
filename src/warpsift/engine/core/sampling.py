"""Samples of the main counters and of the SMs' resident warps at equal intervals of core cycles, for timelines.

Memory is bounded: when the table is full every other sample is dropped and the interval doubles. A sample is the value
of each chosen counter since the engine was made, at the start of the interval's cycle.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsift.engine.core.arena import Arena, S_t, component
from warpsift.engine.core.jit import compiled, void
from warpsift.engine.core.words import load, store

SAMPLES = 4096
SAMPLED = (
    "warp_instructions",
    "l1_read_accesses",
    "l1_read_hits",
    "l2_read_accesses",
    "l2_read_hits",
    "l2_write_accesses",
    "reply_flits_sent",
    "request_flits_sent",
    "dram_reads",
    "dram_writes",
    "dram_activates",
)

SAMPLER = np.dtype(
    [
        ("interval", np.int64),  # core cycles; 0 = off
        ("next_at", np.int64),
        ("count", np.int64),
        ("counters", np.int64),
        ("p_addresses", np.int64),
        ("p_samples", np.int64),  # one row per sample: core cycle, then the counters
    ],
    align=True,
)
sampler = component("sampler", SAMPLER)


def allocate(arena: Arena, interval: int, places: Mapping[str, str]) -> None:
    """`places` says which component's record holds a counter; the SMs' table is there already."""
    resident = arena.arrays["sms"]["warps_resident"]
    watched = {name: arena.arrays[places[name]][name] for name in SAMPLED}
    watched |= {f"sm{i}_resident_warps": resident[i : i + 1] for i in range(len(resident))}
    addresses = [arena.adopt(f"sample.{name}", words) for name, words in watched.items()]
    Z = arena.record("sampler", SAMPLER)
    Z.interval = Z.next_at = interval
    Z.counters = len(addresses)
    Z.p_addresses = arena.adopt("sampler.addresses", np.array(addresses, np.int64))
    Z.p_samples = arena.table("sampler.samples", np.int64, SAMPLES * (len(addresses) + 1) if interval else 1)


def samples(arena: Arena) -> dict[str, np.ndarray]:
    """`cycle` and one column per sampled counter, cumulative, and per SM the warps that it holds."""
    Z = arena.arrays["sampler"][0]
    names = ["cycle", *(name.removeprefix("sample.") for name in arena.arrays if name.startswith("sample."))]
    rows = arena.arrays["sampler.samples"][: int(Z.count) * len(names)].reshape(-1, len(names))
    return {name: rows[:, i].copy() for i, name in enumerate(names)}


@compiled(void, S_t)
def thin_out(S):
    """Drop every other sample and double the interval."""
    Z = sampler(S)
    width = Z.counters + 1
    for row in range(SAMPLES // 2):
        for column in range(width):
            store(Z.p_samples, row * width + column, load(Z.p_samples, (2 * row + 1) * width + column))
    Z.count = SAMPLES // 2
    Z.interval *= 2


@compiled(void, S_t)
def sample(S):
    """Record the counters at Z.next_at (nothing has changed since S.now)."""
    Z = sampler(S)
    if Z.count == SAMPLES:
        thin_out(S)
        if Z.next_at % Z.interval != 0:
            Z.next_at += Z.interval - Z.next_at % Z.interval
            return
    base = Z.count * (Z.counters + 1)
    store(Z.p_samples, base, Z.next_at)
    for index in range(Z.counters):
        store(Z.p_samples, base + index + 1, load(load(Z.p_addresses, index), np.int64(0)))
    Z.count += 1
    Z.next_at += Z.interval
