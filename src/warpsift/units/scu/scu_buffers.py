"""How the bytes of the SCU's buffers are divided (SCU paper, table 1 gives the bytes alone).

The engine's model and the hardware (warpsift.hdl) both read this, so that a buffer which is full in one is full in the
other.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES
from warpsift.units.scu.scu_spec import ScuSpec

# An element that waits in Data Fetch: 16 bits say where its data will be (sector, and place in it), 32 travel with it
# (its place in the output, or the cost of its input).
ELEMENT_BYTES = 6


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
        ring = 1 << ((spec.fetch_fifo_bytes // 2 // SECTOR_BYTES).bit_length() - 1)
        elements = (spec.fetch_fifo_bytes - ring * SECTOR_BYTES) // ELEMENT_BYTES
        # The merge window must leave room for new requests, however small the ring: it holds half of it at most.
        return cls(ring, elements // spec.width, ring // 2)


def vector_share_lines(spec: ScuSpec, vectors: int) -> int:
    """Lines of the vector buffer for each of so many vectors; one is read while the next is under way."""
    return max(2, spec.vector_buffer_bytes // LINE_BYTES // vectors)


def inputs_ahead(spec: ScuSpec) -> int:
    """Inputs whose vector entries have left the buffers, ahead of the one whose elements are addressed (3.2.1).

    The stage that walks the inputs holds `width`, and the one that expands them as many again; beyond width 1 it needs
    a second bank, so as to cross from one bundle to the next within a cycle.
    """
    return spec.width * (2 if spec.width == 1 else 3)


def elements_ahead(spec: ScuSpec) -> int:
    """Elements whose filter bit or place has left the buffers: those expanded, those whose address is made."""
    return 2 * spec.width
