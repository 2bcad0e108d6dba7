"""The graph as kernels see it: the CSR arrays in device memory."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from warpsift.graph import CsrGraph
from warpsift.simt import DeviceArray, Gpu


class DeviceGraph:
    """A graph in device memory; the in-edge arrays are uploaded when first used."""

    def __init__(self, gpu: Gpu, graph: CsrGraph) -> None:
        self._gpu = gpu
        self.graph = graph
        self.nodes = graph.nodes
        self.edges = graph.edges
        self.offsets = gpu.memory.array("offsets", graph.offsets, np.int32)
        self.targets = gpu.memory.array("targets", graph.targets)

    @cached_property
    def weights(self) -> DeviceArray:
        assert self.graph.weights is not None
        return self._gpu.memory.array("weights", self.graph.weights)

    @cached_property
    def in_offsets(self) -> DeviceArray:
        return self._gpu.memory.array("in_offsets", self.graph.in_edges.offsets, np.int32)

    @cached_property
    def in_sources(self) -> DeviceArray:
        return self._gpu.memory.array("in_sources", self.graph.in_edges.targets)

    @cached_property
    def in_weights(self) -> DeviceArray:
        weights = self.graph.in_edges.weights
        assert weights is not None
        return self._gpu.memory.array("in_weights", weights)
