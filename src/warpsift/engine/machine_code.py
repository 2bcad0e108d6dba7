"""Which compiled code an engine runs: that for every machine, or one that knows its machine (`core/settings.py`).

Code for one machine is faster and takes seconds to make. So it is made for a machine that this process has simulated
for `PATIENCE_S`, and kept beside the other: where it is found, it runs from the first cycle on.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import Any

from warpsift.engine.core.arena import Arena
from warpsift.engine.core.jit import Native, ready
from warpsift.engine.core.settings import COMPONENTS, settings_alone

PATIENCE_S = 15.0  # making it takes two seconds and saves an eighth; math.inf: neither made nor used
_spent: Counter[tuple[str, bytes]] = Counter()  # seconds, by entry point and settings


class MachineCode:
    """The entry points of one engine."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self.settings_changed()

    def settings_changed(self) -> None:
        """The host has written a setting: what was chosen for those before holds no more."""
        self._chosen: dict[str, Native] = {}
        self._values: dict[str, bytes] | None = None

    def call(self, entry: Any, *arguments: Any) -> int:
        """Call an entry point."""
        if not isinstance(entry, Native):
            return int(entry(*arguments))  # plain Python
        code = self._chosen.get(entry.name) or self._choose(entry)
        begun = time.perf_counter()
        answer = code(*arguments)
        if code is entry:
            assert self._values is not None
            known = (entry.name, b"".join(self._values.values()))
            _spent[known] += time.perf_counter() - begun  # type: ignore[assignment]
            if _spent[known] > PATIENCE_S:
                _spent[known] = 0
                self._chosen[entry.name] = entry.of_machine(self._values, make=True) or entry
        return answer

    def _choose(self, entry: Native) -> Native:
        if self._values is None:
            records = {name: self._arena.arrays[name] for name in COMPONENTS}
            self._values = {name: settings_alone(array[0], array.dtype) for name, array in records.items()}
        kept = entry.of_machine(self._values, make=False) if math.inf > PATIENCE_S else None
        self._chosen[entry.name] = kept or entry
        ready(self._chosen[entry.name])  # so that compiling is not taken for simulating
        return self._chosen[entry.name]
