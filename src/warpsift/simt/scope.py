"""Scopes: which threads are active, as the mask stack of a SIMT core.

The root scope is all threads of the batch that is being run. `where` and loops push a narrower scope; registers made
outside are narrowed when they are used inside. A scope holds positions, not a bit mask, so that a loop in which only a
few threads are left costs only those.
"""

from __future__ import annotations

import numpy as np

from warpsift.simt.coalesce import group_by_warp
from warpsift.simt.recorder import Groups


class Scope:
    __slots__ = ("_groups", "_narrowing", "index", "parent", "relative", "waited", "warp_numbers")

    def __init__(
        self,
        index: np.ndarray,
        warp_numbers: np.ndarray,
        parent: Scope | None = None,
        relative: np.ndarray | None = None,
    ) -> None:
        self.index = index  # positions in the batch, ascending
        self.warp_numbers = warp_numbers  # wave-wide number of each warp of the batch
        self.parent = parent
        self.relative = relative  # the same threads as positions in the parent's index
        self.waited: set[int] = set()  # loads that these warps have already waited for
        self._groups: Groups | None = None
        self._narrowing: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return self.index.size

    def narrow(self, keep: np.ndarray) -> Scope:
        """The threads of this scope for which `keep` holds."""
        relative = np.flatnonzero(keep)
        return Scope(self.index[relative], self.warp_numbers, self, relative)

    @property
    def groups(self) -> Groups:
        """The warps with at least one active thread, with their lane counts."""
        if self._groups is None:
            self._groups = group_by_warp(self.index, self.warp_numbers)
        return self._groups

    def positions_in(self, ancestor: Scope) -> np.ndarray:
        """Where these threads stand in an enclosing scope's arrays."""
        key = id(ancestor)
        found = self._narrowing.get(key)
        if found is None:
            found, scope = self.relative, self.parent
            while scope is not ancestor:
                if scope is None or found is None:
                    raise LookupError
                if scope.relative is not None:
                    found = scope.relative[found]
                scope = scope.parent
            assert found is not None
            self._narrowing[key] = found
        return found

    def has_waited(self, load: int) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if load in scope.waited:
                return True
            scope = scope.parent
        return False
