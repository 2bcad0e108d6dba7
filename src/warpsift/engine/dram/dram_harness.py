"""One memory channel alone, driven by a list of addresses: for validation, tests and studies of a memory.

Requests come in order, at most one per command clock, and wait only while the memory refuses them. Results are the
counters of `dram_state.COUNTERS` and the clock of the last completion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from warpsift.engine.core.arena import FOREVER, Arena, S_t
from warpsift.engine.core.jit import entry, i64
from warpsift.engine.core.words import load
from warpsift.engine.dram.dram_controller import finish_at, offer_request, put_request, run_channel
from warpsift.engine.dram.dram_state import COUNTERS, build, channel, dram
from warpsift.errors import WarpsiftError
from warpsift.machines.dram_spec import Dram

MEMORY_DIRECTORY = Path(__file__).parents[2] / "machines" / "dram"

STUCK_CLOCKS = 1_000_000  # a channel with requests that moves no data for so long has a fault


def memory_names() -> list[str]:
    """The memories that come with the package."""
    return sorted(path.stem for path in MEMORY_DIRECTORY.glob("*.toml"))


def load_memory(name: str | Path) -> Dram:
    """Read a memory: the name of one that comes with the package, or the path of a TOML file."""
    path = Path(name) if str(name).endswith(".toml") else MEMORY_DIRECTORY / f"{name}.toml"
    if not path.exists():
        raise WarpsiftError(f"no memory {str(name)!r}; known memories: {', '.join(memory_names())}")
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Dram)
    except (msgspec.ValidationError, msgspec.DecodeError) as problem:
        raise WarpsiftError(f"{path.name}: {problem}") from None


@entry("one memory channel alone", i64, S_t, i64, i64, i64, i64)
def drive(S, p_addresses, p_writes, count, start):
    """Send `count` requests to channel 0 from clock `start` on, run until it is empty.

    The clock of the last completion, -1 if it got stuck.
    """
    D = dram(S)
    C = channel(D.p_channels, 0)
    clk = start
    sent = np.int64(0)
    while sent < count or C.requests > 0:
        step = np.int64(FOREVER)
        if sent < count:
            write = load(p_writes, sent)
            if offer_request(D, C, write) == 1:
                put_request(D, C, load(p_addresses, sent), write, sent, clk, clk)
                sent += 1
            else:
                D.dram_queue_full_stalls += 1
        run_channel(S, D, C, clk)
        if sent < count and offer_request(D, C, load(p_writes, sent)) == 1:
            step = clk + 1  # room again: the next request comes in the next clock
        clk = max(min(step, C.wake), clk + 1)
        if clk > max(start, C.last_done) + STUCK_CLOCKS and (sent < count or C.requests > 0):
            return np.int64(-1)
    return C.last_done


class Memory:
    """A memory with its own state, as the harness and the tests use it."""

    def __init__(self, spec: Dram) -> None:
        self.spec = msgspec.structs.replace(spec, channels=1)
        self.arena = Arena()
        self.S = self.arena.root
        self.D = build(self.arena, self.spec, spec.clock_mhz)
        self.C = self.arena.arrays["dram.channels"][0]

    def run(
        self, addresses: Sequence[int] | np.ndarray, is_write: Sequence[bool] | np.ndarray, *, start: int = 0
    ) -> dict[str, int]:
        """Send the requests from clock `start` on; all counters, and `cycles`, the clock of the last completion."""
        n = len(addresses)
        if len(is_write) != n:
            raise WarpsiftError(f"{n} addresses but {len(is_write)} write flags; give one flag per address")
        where = self.arena.adopt("pattern.addresses", np.array(addresses, np.int64))
        kinds = self.arena.adopt("pattern.writes", np.array(is_write, np.int64))
        cycles = int(drive(self.S, where, kinds, n, start))
        if cycles < 0:
            raise RuntimeError(f"the memory holds {int(self.C.requests)} requests but has nothing to do")
        finish_at(self.S, cycles)
        self.arena.release("pattern.addresses")
        self.arena.release("pattern.writes")
        return {"cycles": cycles, **{name: int(getattr(self.D, name)) for name in COUNTERS}}

    def close(self) -> None:
        self.arena.close()


def run_pattern(
    memory_spec: Dram | str,
    addresses: Sequence[int] | np.ndarray,
    is_write: Sequence[bool] | np.ndarray,
    overrides: Mapping[str, Any] | None = None,
) -> dict[str, int]:
    """Counters of one channel after the given requests. `overrides` replaces fields of the memory."""
    spec = load_memory(memory_spec) if isinstance(memory_spec, str) else memory_spec
    if overrides:
        spec = msgspec.structs.replace(spec, **overrides)
    memory = Memory(spec)
    try:
        return memory.run(addresses, is_write)
    finally:
        memory.close()
