"""Rules that tie keys of the memory section together: what no memory could have, though each value is in its range."""

from __future__ import annotations

from collections.abc import Iterator

from warpsift.errors import WarpsiftError
from warpsift.machines.dram_address import Pieces, log2, parse_address_map, width_of
from warpsift.machines.dram_spec import MOST_BANKS, Dram
from warpsift.machines.ranges import range_problems

ROW_BITS = 31  # of a row's number in the model


def dram_problems(spec: Dram) -> Iterator[str]:
    """Texts of what is wrong with a memory; the first is enough to refuse it."""
    yield from range_problems(spec, "dram.")
    yield from _organisation(spec)
    yield from _queues(spec)
    yield from _refresh(spec)
    yield from _address_map(spec)


def _organisation(spec: Dram) -> Iterator[str]:
    if spec.request_bytes > spec.burst_bytes:
        yield (
            f"dram.request_bytes = {spec.request_bytes} is more than dram.burst_bytes = {spec.burst_bytes}, "
            "what one column command moves; write at most that"
        )
    if spec.banks * spec.ranks > MOST_BANKS:
        yield (
            f"dram.banks = {spec.banks} and dram.ranks = {spec.ranks} make more than {MOST_BANKS} banks per channel; "
            "write fewer, or more channels"
        )
    if spec.banks % spec.bank_groups:
        yield f"dram.bank_groups = {spec.bank_groups} does not divide dram.banks = {spec.banks}"


def _queues(spec: Dram) -> Iterator[str]:
    low, high = spec.write_drain_low, spec.write_drain_high
    if spec.write_queue_entries and not 0 <= low < high <= spec.write_queue_entries:
        yield (
            f"dram.write_drain_low = {low} and dram.write_drain_high = {high} "
            f"must be 0 <= low < high <= dram.write_queue_entries = {spec.write_queue_entries}"
        )
    if spec.write_way == "own" and not spec.write_queue_entries:
        yield "dram.write_way = 'own' needs dram.write_queue_entries >= 1: with one queue they wait together"
    if spec.starvation_clocks and spec.bank_queue_entries:
        yield "dram.starvation_clocks needs dram.bank_queue_entries = 0: bank queues hide the oldest request"
    if spec.bank_queue_fill == "row_hit" and (spec.write_queue_entries or not spec.bank_queue_entries):
        yield "dram.bank_queue_fill = 'row_hit' needs dram.bank_queue_entries >= 1 and dram.write_queue_entries = 0"
    if spec.activated_first and spec.bank_queue_entries:
        yield "dram.activated_first needs dram.bank_queue_entries = 0: it empties the common queue"


def _refresh(spec: Dram) -> Iterator[str]:
    """A refresh must leave time to open a row and to move its data before the next one falls due."""
    t = spec.timing
    if spec.refresh == "none" or not t.refi:
        return
    if not t.rfc:
        yield "dram.timing.refi is set but dram.timing.rfc is 0; write the duration of a refresh"
        return
    per_bank = spec.refresh == "per_bank"
    duration = (t.rfc_pb or t.rfc) if per_bank else t.rfc
    # What a row that is opened after a refresh must have time for before the next one closes it: to wait for its turn
    # to be opened, column and data, precharge. A bank, or all banks of a rank, are refreshed once in refi.
    turn = max(t.rc, t.rrd_s, t.rrd_l, t.faw, t.aw32)
    used = max(t.ras, t.rcd_rd + t.rtp, t.rcd_wr + t.cwl + spec.burst_clocks + t.wr)
    close = t.ppd + (t.rp if per_bank else max(t.rp, t.rp_ab))
    if t.refi <= duration + turn + used + close:
        yield (
            f"dram.timing.refi = {t.refi}: a refresh of {duration} clocks, and opening, using and closing a row before "
            f"the next one, take {duration + turn + used + close}; write more, or 0 for no refresh"
        )
    # One after the other: each must have closed its rows before the next falls due, or refreshing never ends.
    units = spec.ranks * (spec.banks if per_bank else 1)
    if t.refi // units <= used + close:
        yield (
            f"dram.timing.refi = {t.refi}: {units} refreshes in that time, each after up to {used + close} clocks for "
            f"open rows to close, need more than {units * (used + close + 1)}; write more, or 0 for no refresh"
        )


def _address_map(spec: Dram) -> Iterator[str]:
    try:
        pieces = parse_address_map(spec.address_map)
        expected = _expected_bits(spec, pieces)
    except WarpsiftError as error:
        yield str(error)
        return
    for field, bits in expected.items():
        if width_of(pieces, field) != bits:
            yield (
                f"dram.address_map {spec.address_map!r} has {width_of(pieces, field)} {field} bits, "
                f"but the organisation needs {bits}"
            )
    for field in ("group", "rank"):
        if len(pieces[field]) > 2:
            yield f"dram.address_map: {field} comes in {len(pieces[field])} pieces; at most 2 are possible"
    below_rows = sum(width_of(pieces, field) for field in pieces if field != "row")
    if spec.size_mib << 20 > spec.channels << below_rows + ROW_BITS:
        yield (
            f"dram.size_mib = {spec.size_mib}: rows of a bank have numbers of {ROW_BITS} bits, which are "
            f"{(spec.channels << below_rows + ROW_BITS) >> 20} MiB; write less, or more channels or columns"
        )
    if not width_of(pieces, "row"):
        yield f"dram.address_map {spec.address_map!r} has no row bits; write for example 'row14 ...'"


def _expected_bits(spec: Dram, pieces: Pieces) -> dict[str, int]:
    group_bits = width_of(pieces, "group")
    expected = {
        "rank": log2(spec.ranks, "dram.ranks"),
        "bank": log2(spec.banks, "dram.banks") - group_bits,
        "burst": log2(spec.burst_bytes, "dram.burst_bytes"),
    }
    if group_bits:
        expected["group"] = log2(spec.bank_groups, "dram.bank_groups")
    return expected
