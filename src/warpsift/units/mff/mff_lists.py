"""What the four algorithms share when they run with the memory fast-forward unit: occupancy and the two loops.

A target takes 4 KB of shared memory per warp (32 x 32 words, MFF paper, section 5), so a 48 KB SM holds 12 warps. CTAs
of 4 warps use that up exactly; the plain GPU can be run at the same occupancy (`occupancy="target"`), to tell what the
unit gives from what the lost warps take.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpsift.algorithms.common import OptionError, Options
from warpsift.simt import Register
from warpsift.units.mff.mff_threads import FastForwardThreads, Target

TARGET_THREADS_PER_CTA = 128  # 4 warps x 4 KB: three CTAs in 48 KB
WORD_BYTES = 4


def launch_shape(options: Options) -> dict[str, Any]:
    """CTA size and reserved shared memory of a compute launch that has no target of its own."""
    if options.occupancy not in ("full", "target"):
        raise OptionError(f"occupancy must be 'full' or 'target', not {options.occupancy!r}")
    check_target(options)
    if options.occupancy == "full":
        return {}
    reserved = TARGET_THREADS_PER_CTA * options.target_words * WORD_BYTES
    return {"threads_per_cta": TARGET_THREADS_PER_CTA, "shared_bytes": reserved}


def check_target(options: Options) -> None:
    if not 1 <= options.target_words <= 32:
        raise OptionError(f"target_words must lie between 1 and 32, not {options.target_words}")


def refuse_checked_activation(options: Options) -> None:
    if options.checked_activation:
        raise OptionError(
            "checked_activation is not possible with the fast-forward unit: PC_scatter_set cannot test a vertex; "
            "drop the option, or run without the unit"
        )


def gather_list(
    t: FastForwardThreads, target: Target, begin: Register, end: Register, over: str = "in"
) -> Iterator[tuple[Register, Register, Register]]:
    """For every C entry from `begin` to `end`: (first, k, V[C[first + k]]), a target's worth at a time."""
    for first in t.range(begin, end, step=target.words):
        size = t.minimum(end - first, target.words)
        t.pc_gather(target, first, size, over)
        t.pc_wait()
        for k in t.range(0, size):
            yield first, k, target.load(k)


def scatter_list(t: FastForwardThreads, begin: Register, end: Register, over: str = "out") -> None:
    """Activate the vertices of all C entries from `begin` to `end`."""
    for first in t.range(begin, end, step=32):
        t.pc_scatter_set(first, t.minimum(end - first, 32), over)
