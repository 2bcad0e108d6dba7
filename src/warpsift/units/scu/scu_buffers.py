"""What the SCU has of everything in table 1 of its paper, and how the bytes of its buffers are divided.

The engine's model and the hardware (warpsift.hdl) both read this, so that a buffer which is full in one is full in the
other.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES
from warpsift.units.scu.scu_spec import ScuSpec

# An element that waits in Data Fetch: 16 bits say where its data will be (sector, and place in it), 32 travel with it
# (its place in the output, or the cost of its input). A second operand fetched beside it has 16 bits more.
ELEMENT_BYTES = 6
OPERAND_BYTES = 2
# Groups that are being read back have a buffer of their own, 2 KB beside the paper's 18: a probe of grouping takes
# about 4 cycles of its port, so 64 evictions cover 256 cycles of latency even if every probe evicts.
EVICTED_GROUPS = 64


@dataclass(frozen=True)
class Resources:
    """What the whole unit has: `ScuSpec` says it for the unit, or for each lane of its width (`resources`)."""

    vector_bytes: int
    fetch_bytes: int
    hash_bytes: int
    inflight_requests: int  # 0: as many as the FIFO holds
    merge_window: int
    open_lines: int
    hash_ports: int
    probe_limit: int  # 0: the buffer's, -1: none
    evicted_groups: int
    probes_per_cycle: int

    @classmethod
    def of(cls, spec: ScuSpec) -> Resources:
        n = spec.copies
        ports = n * spec.hash_ports
        # One probe per cycle and port: the buffer is searched, and a set decided, once per cycle. Several ports are
        # several such units, each with the sets of its lines.
        probes = spec.width if spec.ideal_hash else min(spec.width, max(1, ports))
        return cls(
            vector_bytes=n * spec.vector_buffer_bytes,
            fetch_bytes=n * spec.fetch_fifo_bytes,
            hash_bytes=n * spec.hash_buffer_bytes,
            inflight_requests=n * spec.inflight_requests,
            merge_window=n * spec.merge_window,
            open_lines=n * spec.store_open_lines,
            hash_ports=ports,
            probe_limit=n * spec.probe_limit if spec.probe_limit > 0 else spec.probe_limit,
            evicted_groups=n * EVICTED_GROUPS,
            probes_per_cycle=probes,
        )


@dataclass(frozen=True)
class FetchFifo:
    """The FIFO of Data Fetch: rows of elements in order, and a ring of the sectors that they wait for (3.2.2).

    Half of the bytes, rounded down to a power of two, is the ring. A stream of 4-byte elements takes 10 bytes for each,
    of which 4 are ring; a gather takes 38, of which 32 are: the half lies between.
    """

    ring_sectors: int
    rows: int  # of up to `width` elements that go in together
    window_sectors: int  # of the ring, that requests which may still be merged with can hold

    @classmethod
    def of(cls, spec: ScuSpec) -> FetchFifo:
        total = Resources.of(spec).fetch_bytes
        ring = 1 << ((total // 2 // SECTOR_BYTES).bit_length() - 1)
        element = ELEMENT_BYTES + (OPERAND_BYTES if spec.second_operand == "beside" else 0)
        elements = (total - ring * SECTOR_BYTES) // element
        # The merge window must leave room for new requests, however small the ring: it holds half of it at most.
        return cls(ring, elements // spec.width, ring // 2)


def vector_share_lines(spec: ScuSpec, vectors: int) -> int:
    """Lines of the vector buffer for each of so many vectors; one is read while the next is under way."""
    return max(2, Resources.of(spec).vector_bytes // LINE_BYTES // vectors)


def inputs_ahead(spec: ScuSpec) -> int:
    """Inputs whose vector entries have left the buffers, ahead of the one whose elements are addressed (3.2.1).

    The stage that walks the inputs holds `width`, and the one that expands them as many again; beyond width 1 it needs
    a second bank, so as to cross from one bundle to the next within a cycle.
    """
    return spec.width * (2 if spec.width == 1 else 3)


def elements_ahead(spec: ScuSpec) -> int:
    """Elements whose filter bit or place has left the buffers: those expanded, those whose address is made."""
    return 2 * spec.width
