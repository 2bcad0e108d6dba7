"""Sizes of the hardware that follow from an `ScuSpec` (SCU paper, tables 1 and 2).

The spec says how many bytes each buffer has; here they are divided into rows. What is fixed at elaboration is the
width, the buffers, the requests in flight and the merge window; the geometry of a hash table is a register.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpsift.hardware import LINE_BYTES, SECTOR_BYTES
from warpsift.units.scu.scu_buffers import EVICTED_GROUPS, FetchFifo, vector_share_lines
from warpsift.units.scu.scu_checks import ScuError
from warpsift.units.scu.scu_spec import ScuSpec
from warpsift.units.scu.scu_trace import BUFFER_ROW_BYTES

ADDRESS_BITS = 40  # virtual addresses of Maxwell GPUs
COUNT_BITS = 32  # elements of an operation
SET_BITS = 24  # sets of a hash table: 64 B each, so up to 1 GiB
TAG_KIND_BITS = 2
SIDE_BITS = 32  # what travels with an element: its place in the output, or the cost of its input
MOST_INFLIGHT = 256  # "as many as the FIFO holds" (inflight_requests = 0) ends here: one tag bit pattern each
EVICTIONS = EVICTED_GROUPS
VECTORS = ("mask", "index", "count", "keep", "order", "base")
WORDS_PER_SECTOR = SECTOR_BYTES // 4


def bits_for(values: int) -> int:
    """Bits of a number 0 .. values - 1."""
    return max(1, (values - 1).bit_length())


@dataclass(frozen=True)
class ScuParameters:
    """Everything that elaboration needs."""

    width: int
    shares: tuple[int, ...]  # lines of the vector buffer for each of 1, 2 .. 6 vectors in use
    ring_sectors: int  # sectors of data that Data Fetch holds, a power of two
    window_sectors: int  # of these, at most, for requests that may still be merged with
    rows: int  # of `width` elements that wait in Data Fetch
    inflight: int
    merge_window: int
    open_lines: int
    large_slots: int  # sets of 128 bytes in the hash request buffer; twice as many of 64 bytes
    probes: int
    probe_limit: int  # sets being read
    ports: int
    skip_dropped: bool
    whole_lines: bool

    @classmethod
    def of(cls, spec: ScuSpec) -> ScuParameters:
        for problem in spec.problems():
            raise ScuError(problem)
        for name, built in (("resources", "unit"), ("second_operand", "slot")):
            if getattr(spec, name) != built:
                raise ScuError(f"scu.{name} = '{getattr(spec, name)}' is not in the hardware; write '{built}'")
        if spec.hash_ports > 1:
            raise ScuError(
                f"scu.hash_ports = {spec.hash_ports}: the hardware has one port for hashing, or none; write 0 or 1"
            )
        fifo = FetchFifo.of(spec)
        slots = max(2, spec.hash_buffer_bytes // BUFFER_ROW_BYTES)
        limit = spec.probe_limit if spec.probe_limit > 0 else slots
        return cls(
            width=spec.width,
            shares=tuple(vector_share_lines(spec, n) for n in range(1, len(VECTORS) + 1)),
            ring_sectors=fifo.ring_sectors,
            window_sectors=fifo.window_sectors,
            rows=fifo.rows,
            inflight=min(spec.inflight_requests or MOST_INFLIGHT, MOST_INFLIGHT),
            merge_window=spec.merge_window,
            open_lines=spec.store_open_lines,
            large_slots=slots // 2,
            probes=slots // 2 * 2,
            probe_limit=min(limit, slots),
            ports=1 + spec.hash_ports,
            skip_dropped=spec.skip_dropped,
            whole_lines=spec.request_bytes == LINE_BYTES,
        )

    @property
    def slot_bits(self) -> int:
        """A place in the sector ring, with the parity of the ring's round on top."""
        return bits_for(self.ring_sectors) + 1

    @property
    def tag_bits(self) -> int:
        number = max(bits_for(self.inflight), bits_for(self.probes), bits_for(EVICTIONS), 3 + bits_for(self.shares[0]))
        return TAG_KIND_BITS + number

    @property
    def vector_rows(self) -> int:
        """Sectors of the vector buffer."""
        return max(share * n for n, share in enumerate(self.shares, 1)) * (LINE_BYTES // SECTOR_BYTES)

    @property
    def order_lanes(self) -> int:
        """Elements per cycle when each takes a word of the order vector, of which a window shows 8."""
        return min(self.width, WORDS_PER_SECTOR)
