"""Commands to the memory fast-forward unit in the request network: who waits for whom, and who does not."""

from __future__ import annotations

from types import SimpleNamespace

from support.fast_forward import Setup, engine_with_unit, random_lists, timed
from warpsift.engine.core.jit import from_python
from warpsift.engine.noc import crossbar
from warpsift.engine.noc import ports as noc
from warpsift.units.mff import mff_state

packet_new, noc_inject, grant = map(from_python, (noc.packet_new, noc.noc_inject, crossbar.grant))


def crossing(kinds, slice_full=False, unit_full=False):
    """The first packets of SMs 0, 1, ... want output 0: which input is granted, and the engine."""
    engine = engine_with_unit()
    S, tables = engine._S, engine._arena.arrays
    if slice_full:
        tables["l2.slices"][0].ready_sectors = tables["l2"][0].queue_entries
    if unit_full:
        tables["sockets"][0].full = 1 << mff_state.SOCKET  # as the unit says when it has no job entry left
    for sm, kind in enumerate(kinds):
        index = packet_new(S)
        row = tables["noc.packets"][index]
        row.kind, row.unit = kind, mff_state.SOCKET
        row.destination, row.flits, row.ready = 0, 1, -engine.machine.noc.hop_latency_cycles
        noc_inject(S, noc.REQUESTS, sm, index)
    granted = grant(S, noc.REQUESTS, 0)
    masks = SimpleNamespace(**{name: int(tables[f"noc.{name}{noc.REQUESTS}"][0]) for name in ("blocked", "active")})
    return granted, masks, tables["mff"][0]


def test_a_command_does_not_wait_for_a_full_l2_slice():
    kinds = (noc.READ, noc.UNIT_COMMAND)
    assert crossing(kinds)[0] == 0
    granted, network, _ = crossing(kinds, slice_full=True)
    assert granted == 1 and network.blocked == 1 and network.active == 1  # the read is held back, and counted
    granted, network, _ = crossing((noc.READ, noc.READ), slice_full=True)
    assert granted == -1 and network.blocked == 1 and network.active == 0  # sleeps until the slice has room


def test_a_command_without_a_job_entry_holds_back_no_other_sm():
    kinds = (noc.UNIT_COMMAND, noc.READ)
    granted, network, unit = crossing(kinds, unit_full=True)
    assert granted == 1 and network.blocked == 0 and unit.mff_stall_job_cycles == 1
    granted, network, unit = crossing(kinds, slice_full=True, unit_full=True)
    assert granted == -1 and network.active == 1 and unit.mff_stall_job_cycles == 1  # asks again in the next cycle


def test_a_full_unit_says_so_and_says_when_it_has_room():
    """The bit that `crossing` sets by hand is the unit's own: up while every job entry is taken."""
    tape = Setup(random_lists(5, 300, 40, 3000), 3000).gather()
    least, _ = timed(tape, **{"mff.issue_engines": 1, "mff.jobs_per_engine": 1})
    roomy, _ = timed(tape)
    assert least.mff_stall_job_cycles > 0 and least.mff_stall_job_cycles > roomy.mff_stall_job_cycles
