"""What the algorithms share when they run with the memory fast-forward unit: the two loops."""

from __future__ import annotations

from collections.abc import Iterator

from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.options import OptionError
from warpsift.simt import Register
from warpsift.units.mff.mff_threads import FastForwardThreads, Target


def refuse_checked_activation(options: BfsOptions) -> None:
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
