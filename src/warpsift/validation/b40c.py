"""BFS as b40c runs it on large frontiers: filter, contract and expand, as its source says (back40computing).

Read: `b40c/graph/bfs/enactor_hybrid.cuh` with the policies for compute capability 2.0 and up, and `cta.cuh` of
`two_phase/filter_atomic`, `contract_atomic` and `expand_atomic`. CTAs of 128 threads, eight on an SM, stay for a whole
launch. The filter and the contraction give each an even share of the queue, which it goes through in tiles; expansion
gives the next 128 nodes to the CTA that asks. Here a tile is a CTA of its own. The tiles of a round lie where the
shares do, so that what is in flight together is what b40c has in flight together.

What differs: a thread's four words of a tile are four loads, not two of a pair each; b40c reads row offsets and, the
first time, the bitmask as textures, here all loads are alike; lists of fewer than 32 nodes pass through 128 places
of shared memory, not about 1300; the history of the contraction lasts for four tiles, not for a share; the few small
levels take three launches each, not a part of b40c's fused kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpsift.algorithms.bfs.bfs_options import BfsOptions
from warpsift.algorithms.bfs.frontier import contract_filtered, gather_neighbours
from warpsift.algorithms.conventions import INFINITY
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.operators.gathering import reserve
from warpsift.algorithms.source_node import with_source
from warpsift.engine import Engine
from warpsift.graph import CsrGraph
from warpsift.machines import load_machine
from warpsift.simt import DeviceArray, Gpu, Register, Residency, Threads, kernel

THREADS = 128  # LOG_THREADS 7, of all three
CTAS_PER_SM = 8  # CTA_OCCUPANCY
WORDS = 4  # of a thread in a tile of the filter: LOG_LOAD_VEC_SIZE 1, LOG_LOADS_PER_TILE 1
TILE = WORDS * THREADS
CONTRACT_TILES = 4  # of a CTA, one after the other
CTA_LIST = 4 * THREADS  # CTA_GATHER_THRESHOLD: shorter lists are a warp's
FIELD_BITS = 16  # of a thread's four flags side by side in one scan


@dataclass(frozen=True)
class Shares:
    """An even share for each resident CTA, in whole tiles; the first ones have one more (cta_work_distribution.cuh)."""

    ctas: int
    tiles_each: int
    with_one_more: int

    @classmethod
    def of(cls, tiles: int, ctas: int) -> Shares:
        return cls(ctas, tiles // ctas, tiles % ctas)

    def tile_of(self, t: Threads) -> Register:
        """CTA number k of the launch is in its place what resident CTA k % ctas does in round k / ctas."""
        share = t.cta % self.ctas
        return share * self.tiles_each + t.minimum(share, self.with_one_more) + t.cta // self.ctas


@kernel(guard=False, races=True)
def filter_tile(t, edges, count, visited, filtered, filtered_count, shares):
    """512 edges without the nodes whose bit is set; the others set theirs."""
    first = shares.tile_of(t) * TILE + t.in_cta
    vertices, kept = [], []
    for word in range(WORDS):
        vertex = t.var(-1)
        with t.where(first + word * THREADS < count):
            vertex.set(t.load(edges, first, offset=word * THREADS))
        vertices.append(vertex)
    for vertex in vertices:
        fresh = t.var(0)
        with t.where(vertex != -1):
            _look(t, vertex, fresh, visited)
        kept.append(fresh)
    _append(t, vertices, kept, filtered, filtered_count)


def _look(t: Threads, vertex, fresh, visited: DeviceArray) -> None:
    """The bit as the texture has it; if it is not set, as the L2 has it; if it is not there either, set it."""
    byte_index = vertex >> 3
    bit = 1 << (vertex & 7)
    cached = t.load(visited, byte_index)
    with t.where((cached & bit) == 0):
        byte = t.load(visited, byte_index) | cached
        with t.where((byte & bit) == 0):
            t.store(visited, byte_index, byte | bit)  # no atomic: of two updates to one byte one is lost
            fresh.set(1)


def _append(
    t: Threads, vertices: list[Register], kept: list[Register], filtered: DeviceArray, filtered_count: DeviceArray
) -> None:
    """What is kept to the queue, all first words before all second ones, as b40c ranks a tile's loads."""
    flags = kept[0].astype(np.int64)
    for word in range(1, WORDS):
        flags = flags + (kept[word].astype(np.int64) << (word * FIELD_BITS))
    ranks, totals = t.cta_scan(flags)
    mask = (1 << FIELD_BITS) - 1
    sums = [((totals >> (word * FIELD_BITS)) & mask).astype(np.int32) for word in range(WORDS)]
    base = reserve(t, filtered_count, sums[0] + sums[1] + sums[2] + sums[3])
    for word in range(WORDS):
        with t.where(kept[word] == 1):
            rank = ((ranks >> (word * FIELD_BITS)) & mask).astype(np.int32)
            t.store(filtered, base + rank, vertices[word])
        base = base + sums[word]


@kernel(guard=False)
def expand_tile(t, frontier, count, offsets, targets, edges, edge_count):
    """All neighbours of 128 nodes into the edge frontier."""
    gather_neighbours(t, (frontier, count), (offsets, targets), (edges, edge_count), cta_list=CTA_LIST)


def search(gpu: Gpu, graph: CsrGraph, source: int) -> np.ndarray:
    """Levels from the source, level by level in three launches."""
    device = DeviceGraph(gpu, graph)
    labels = gpu.memory.full("labels", graph.nodes, INFINITY)
    visited = gpu.memory.empty("visited", graph.nodes // 8 + 1, np.uint8)
    nodes = Queue(gpu, "node_frontier", graph.nodes, node=np.int32)
    edges = Queue(gpu, "edge_frontier", graph.edges, target=np.int32)
    filtered = Queue(gpu, "filtered_frontier", graph.edges, target=np.int32)
    labels.host[source] = 0
    visited.host[source >> 3] = 1 << (source & 7)
    nodes.fill(node=np.array([source]))
    depth = reached = 0
    while len(nodes):
        depth += 1
        reached += len(nodes)
        _expand(gpu, device, nodes, edges)
        _filter(gpu, edges, filtered, visited)
        _contract(gpu, filtered, nodes, labels, depth)
        gpu.progressed(reached / graph.nodes)
    return labels.host.copy()


def _expand(gpu: Gpu, device: DeviceGraph, nodes: Queue, edges: Queue) -> None:
    count = len(nodes)
    edges.reserve(int(device.graph.out_degrees[nodes.node.host[:count]].sum()))
    edges.clear()
    arguments = (nodes.node, count, device.offsets, device.targets, edges.target, edges.counter)
    gpu.launch(expand_tile, count, *arguments, phase="expand", threads_per_cta=THREADS)


def _filter(gpu: Gpu, edges: Queue, filtered: Queue, visited: DeviceArray) -> None:
    count = len(edges)
    filtered.reserve(count)
    filtered.clear()
    tiles = -(-count // TILE)
    shares = Shares.of(tiles, gpu.residency.sms * CTAS_PER_SM)
    arguments = (edges.target, count, visited, filtered.target, filtered.counter, shares)
    gpu.launch(filter_tile, tiles * THREADS, *arguments, phase="filter", threads_per_cta=THREADS)


def _contract(gpu: Gpu, filtered: Queue, nodes: Queue, labels: DeviceArray, depth: int) -> None:
    count = len(filtered)
    nodes.reserve(count)
    nodes.clear()
    tiles = max(1, min(CONTRACT_TILES, count // (THREADS * gpu.residency.sms * CTAS_PER_SM)))
    threads = -(-count // (tiles * THREADS)) * THREADS
    arguments = (filtered.target, count, labels, depth, nodes.node, nodes.counter, tiles, (True, True))
    gpu.launch(contract_filtered, threads, *arguments, phase="contract", threads_per_cta=THREADS)


def seconds(machine_name: str, graph: CsrGraph) -> float:
    """Time of all launches from one source; what a host adds between them comes on top."""
    machine = load_machine(machine_name, {"sm.ctas": CTAS_PER_SM})
    engine = Engine(machine)
    residency = Residency(machine.sm.count, CTAS_PER_SM * THREADS)
    gpu = Gpu(engine, memory_bytes=machine.dram.size_mib << 20, residency=residency)
    try:
        search(gpu, graph, with_source(graph, BfsOptions()))
        return engine.seconds(engine.total.cycles)
    finally:
        engine.close()
