"""Vertex scheduling on the SCU: the bits of active vertices become a list by one compaction of positions.

The SCU paper does not do this. The MFF paper leaves scheduling out of its measurements; with an MFF it is most of what
a super-step takes, and its bit vector is already the mask that the SCU wants.
"""

from __future__ import annotations

from warpsift.algorithms.operators.scheduling import ActiveSet
from warpsift.algorithms.options import OptionError
from warpsift.algorithms.style_options import VertexOptions
from warpsift.simt import Gpu
from warpsift.units.scu.scu_api import Scu
from warpsift.units.scu.scu_spec import ScuSpec


class ScuActiveSet(ActiveSet):
    """Active vertices whose list the unit makes; clearing the other bit vector is still the GPU's."""

    def __init__(self, gpu: Gpu, nodes: int, options: VertexOptions, spec: ScuSpec | None = None) -> None:
        super().__init__(gpu, nodes, options)
        if not (self._compact and self._atomic):
            raise OptionError("the SCU makes a list from bits: leave active at 'compact' and bit_setting at 'atomic'")
        self._scu = Scu(gpu, spec)

    def _list(self) -> None:
        _, count = self._scu.position_compaction(self.current, self._nodes, out=self.list, phase="schedule")
        self._count.host[0] = count
