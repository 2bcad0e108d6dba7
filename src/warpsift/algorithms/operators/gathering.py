"""Gathering: the edges of many nodes at once, with the work spread over the threads of a CTA.

Merrill, Garland and Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012, section 4 and 5: lists of at least a CTA's
width are read by the whole CTA, one list after the other; lists of at least a warp's width by a warp; the rest is
packed edge by edge into shared memory with a prefix sum, so that every thread gets one edge. Output positions come
from one atomic per CTA.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpsift.hardware import WARP_SIZE
from warpsift.simt import DeviceArray, Register, Threads

# emit(edge, position, payload): what to do with one edge, its place in the output, and its node's payload
Emit = Callable[[Register, Register, Register | None], None]


def reserve(t: Threads, counter: DeviceArray, total: Register) -> Register:
    """One atomic per CTA: where in the queue this CTA's `total` elements go."""
    box = t.shared(np.int32, 1)
    with t.where(t.in_cta == 0):
        box.store(0, t.atomic_add(counter, 0, total))
    t.barrier()
    return box.load(0)


def gather_edges(
    t: Threads,
    begin: Register,
    degree: Register,
    payload: Register | None,
    counter: DeviceArray | None,
    emit: Emit,
    *,
    cta_list: int | None = None,
) -> None:
    """Call `emit` for every edge `begin .. begin + degree` of every thread of the CTA.

    Without a counter nothing is reserved, for an `emit` that writes no queue: positions count from 0 in each CTA.
    `cta_list`: from so many edges on a list is the whole CTA's; None: as many as the CTA has threads.
    """
    coarse = t.select(degree >= WARP_SIZE, degree, 0)
    fine = degree - coarse
    # one scan for both sums, side by side in 64 bits, as Merrill's tuple scan
    both_at, both_total = t.cta_scan((coarse.astype(np.int64) << 32) + fine)
    coarse_at, fine_at = (both_at >> 32).astype(np.int32), both_at.astype(np.int32)
    coarse_total, fine_total = (both_total >> 32).astype(np.int32), both_total.astype(np.int32)
    base = t.var(0) if counter is None else reserve(t, counter, coarse_total + fine_total)
    left = t.var(coarse)
    place = base + coarse_at
    _by_cta(t, begin, left, place, payload, emit, cta_list or t.batch.threads_per_cta)
    _by_warp(t, begin, left, place, payload, emit)
    _by_scan(t, (begin, fine, fine_at), (fine_total, base + coarse_total), payload, emit)


class _Announcement:
    """Shared words in which one thread tells the others of its group what to read: begin, length, place, payload."""

    def __init__(self, t: Threads, groups: int, payload: Register | None) -> None:
        self.winner = t.shared(np.int32, groups)
        self.columns = [t.shared(np.int32, groups) for _ in range(3)]
        if payload is not None:
            self.columns.append(t.shared(payload.dtype, groups))

    def publish(self, group: Register | int, *values: Register | None) -> None:
        for column, value in zip(self.columns, values, strict=False):
            column.store(group, value)

    def read(self, group: Register | int) -> tuple[Register, Register, Register, Register | None]:
        first, length, place, *payload = (column.load(group) for column in self.columns)
        return first, length, place, payload[0] if payload else None


def _by_cta(t: Threads, begin, left, place, payload, emit: Emit, shortest: int) -> None:
    size = t.batch.threads_per_cta
    box = _Announcement(t, 1, payload)
    for _ in t.loop_while(lambda: t.cta_any(left >= shortest)):
        with t.where(left >= shortest):
            box.winner.store(0, t.in_cta)
        t.barrier()
        with t.where(box.winner.load(0) == t.in_cta):
            box.publish(0, begin, left, place, payload)
            left.set(0)
        t.barrier()
        first, length, out, shared_payload = box.read(0)
        for k in t.range(t.in_cta, length, step=size):
            emit(first + k, out + k, shared_payload)


def _by_warp(t: Threads, begin, left, place, payload, emit: Emit) -> None:
    warp = t.in_cta >> 5
    box = _Announcement(t, t.batch.threads_per_cta // WARP_SIZE, payload)
    for _ in t.loop_while(lambda: t.warp_any(left >= WARP_SIZE)):
        with t.where(left >= WARP_SIZE):
            box.winner.store(warp, t.lane)
        with t.where(box.winner.load(warp) == t.lane):
            box.publish(warp, begin, left, place, payload)
            left.set(0)
        first, length, out, shared_payload = box.read(warp)
        for k in t.range(t.lane, length, step=WARP_SIZE):
            emit(first + k, out + k, shared_payload)


def _by_scan(t: Threads, lists, totals, payload, emit: Emit) -> None:
    begin, fine, fine_at = lists
    fine_total, base = totals
    size = t.batch.threads_per_cta
    edges = t.shared(np.int32, size)
    payloads = None if payload is None else t.shared(payload.dtype, size)
    at, edge, left, done = t.var(fine_at), t.var(begin), t.var(fine), t.var(0)

    def something_left() -> Register:
        return done < fine_total

    def room_for_mine() -> Register:
        return (left > 0) & (at < done + size)

    for _ in t.loop_while(something_left):
        for _ in t.loop_while(room_for_mine):
            slot = at - done
            edges.store(slot, edge)
            if payloads is not None:
                payloads.store(slot, payload)
            at += 1
            edge += 1
            left -= 1
        t.barrier()
        with t.where(t.in_cta < fine_total - done):
            emit(edges.load(t.in_cta), base + done + t.in_cta, payloads.load(t.in_cta) if payloads else None)
        done += size
        t.barrier()
