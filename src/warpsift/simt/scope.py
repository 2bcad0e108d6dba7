"""Scopes: which threads are active, as the mask stack of a SIMT core.

The root scope is all threads of the batch that is being run. `where` and loops push a narrower scope; registers made
outside are narrowed when they are used inside. A scope holds positions, not a bit mask, so that a loop in which only a
few threads are left costs only those.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt.warp_groups import group_by_warp

Groups = tuple[np.ndarray, np.ndarray, np.ndarray]  # (warp numbers, active lanes, first position) of a scope


class Shape(NamedTuple):
    """What every batch of so many CTAs has in common. Registers share these arrays, so nobody writes to them."""

    positions: np.ndarray  # 0, 1, 2, ... of all threads
    lane: np.ndarray
    in_cta: np.ndarray
    cta: np.ndarray  # the CTA's place in the batch


@lru_cache(maxsize=16)
def shape_of(ctas: int, threads_per_cta: int) -> Shape:
    positions = np.arange(ctas * threads_per_cta)
    lane = (positions & (WARP_SIZE - 1)).astype(np.int32)
    cta, in_cta = np.divmod(positions, threads_per_cta)
    return Shape(positions, lane, in_cta.astype(np.int32), cta.astype(np.int32))


class Batch:
    """Which CTAs run together: their numbers in the grid and their places in the wave's chunk."""

    def __init__(self, cta_numbers: np.ndarray, places: np.ndarray, threads_per_cta: int, seed: int) -> None:
        warps = threads_per_cta // WARP_SIZE
        self.cta_numbers = cta_numbers
        self.threads_per_cta = threads_per_cta
        self.size = cta_numbers.size * threads_per_cta
        self.shape = shape_of(cta_numbers.size, threads_per_cta)
        self.warp_numbers = (places[:, None] * warps + np.arange(warps)).reshape(-1).astype(np.int32)
        self._seed = seed

    @cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self._seed)


class Scope:
    __slots__ = ("_groups", "_narrowing", "batch", "index", "log", "number", "parent", "relative", "waited")

    def __init__(
        self, index: np.ndarray, batch: Batch, parent: Scope | None = None, relative: np.ndarray | None = None
    ) -> None:
        self.index = index  # positions in the batch, ascending
        self.batch = batch
        self.parent = parent
        self.relative = relative  # the same threads as positions in the parent's index
        self.waited: set[int] = set()  # loads that these warps have already waited for
        self.log = -1  # the recorder's log in which this scope is written down
        self.number = 0  # and its number there
        self._groups: Groups | None = None
        self._narrowing: dict[int, np.ndarray] | None = None

    def __len__(self) -> int:
        return self.index.size

    def narrow(self, keep: np.ndarray) -> Scope:
        """The threads of this scope for which `keep` holds: a scope inside, or this one if it holds for all."""
        relative = keep.nonzero()[0]
        return self if relative.size == keep.size else self.inner(relative)

    def inner(self, relative: np.ndarray) -> Scope:
        """The threads at these positions of this scope."""
        index = relative if self.parent is None else self.index[relative]  # the root's positions are 0, 1, 2, ...
        return Scope(index, self.batch, self, relative)

    @property
    def groups(self) -> Groups:
        """The warps with at least one active thread, with their lane counts."""
        if self._groups is None:
            self._groups = group_by_warp(self.index, self.batch.warp_numbers)
        return self._groups

    def positions_in(self, ancestor: Scope) -> np.ndarray:
        """Where these threads stand in an enclosing scope's arrays."""
        if ancestor is self.parent and self.relative is not None:
            return self.relative
        if ancestor.parent is None and ancestor.batch is self.batch:
            return self.index
        known = self._narrowing
        if known is None:
            known = self._narrowing = {}
        found = known.get(id(ancestor))
        if found is None:
            found = known[id(ancestor)] = self._climb(ancestor)
        return found

    def _climb(self, ancestor: Scope) -> np.ndarray:
        found, scope = self.relative, self.parent
        while scope is not ancestor:
            if scope is None or found is None:
                raise LookupError
            if scope.relative is not None:
                found = scope.relative[found]
            scope = scope.parent
        assert found is not None
        return found

    def has_waited(self, load: int) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if load in scope.waited:
                return True
            scope = scope.parent
        return False
