"""Machines at the edge of what is allowed: the right answer, or a clear refusal before the run; never a deadlock.

The sample in the suite is small; WARPSIFT_ODD_MACHINES=5000 tries so many (make torture does), from seed 0 on.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from support.odd_machines import KEYS, UNITS, one_key_machines, random_machine, try_machine
from warpsift.machines import MachineError, load_machine

TRIES = int(os.environ.get("WARPSIFT_ODD_MACHINES", "60"))
BATCH = 20


def outcome(number: int, base: str, overrides: dict) -> str:
    found = try_machine(base, overrides, number)
    assert found in ("right", "refused"), f"machine {number}, {base} with {overrides}: {found}"
    return found


@pytest.mark.parametrize("first", range(0, TRIES, BATCH))
def test_random_tiny_machines(first):
    tally = Counter(outcome(number, *random_machine(number)) for number in range(first, first + BATCH))
    assert tally["right"] >= BATCH // 4  # most of them must be worth a run


def unit_number(number: int, key: str) -> int:
    """The number of a case that runs the unit whose section the key is in, otherwise any."""
    unit = {"scu": 1, "mff": 2, "scu_slice": 5, "iru": 6, "iscu": 7}.get(key.partition(".")[0], (number // 4) % 4)
    return 4 * (len(UNITS) * (number % 4) + unit) + number % 4


def test_single_keys_at_one_and_at_their_bounds():
    """A tenth of them here, another with every number of tries; all of them in the long run."""
    cases = list(enumerate(one_key_machines()))
    assert {key for _, (_, overrides) in cases for key in overrides} == {k for k in KEYS if not _is_text(k)}
    for number, (base, overrides) in cases if TRIES > 1000 else cases[TRIES % 10 :: 25]:
        (key,) = overrides
        outcome(unit_number(number, key), base, overrides)


def _is_text(key: str) -> bool:
    return KEYS[key].bounds is None and not KEYS[key].choices


@pytest.mark.parametrize(
    ("base", "overrides", "number"),
    [
        # a line's requests, one for each sector, need room in the network together
        ("gtx480", {"noc.request_sectors_per_packet": 1, "noc.flit_bytes": 200, "noc.buffer_flits": 4}, 3),
        ("gtx980", {"noc.request_sectors_per_packet": 4, "noc.flit_bytes": 200, "noc.buffer_flits": 4}, 3),
        # long waits that are no standstill: a chain of slow instructions, a memory at a hundredth of the core's clock
        ("tx1", {"sm.alu_latency_cycles": 10000}, 2),
        ("tx1", {"dram.clock_mhz": 11, "dram.timing.rtw": 4000}, 1),
        ("gtx980", {"noc.header_bytes": 128, "noc.flit_bytes": 1, "noc.buffer_flits": 640}, 0),
    ],
)
def test_machines_that_once_stood_still(base, overrides, number):
    load_machine(base, overrides)
    assert outcome(number, base, overrides) == "right"


@pytest.mark.parametrize("sectors", [1, 4])
def test_a_buffer_that_a_miss_does_not_fit_is_refused(sectors):
    overrides = {"noc.request_sectors_per_packet": sectors, "noc.flit_bytes": 200, "noc.buffer_flits": 3}
    with pytest.raises(MachineError, match="cannot hold the requests of a line's sectors, 4 flits"):
        load_machine("gtx480", overrides)
