"""A miss that the L1 or the network refuses is tried again when what it lacks may be there: not sooner, not later."""

import json

import pytest

from support.fresh_python import run_python

# Gathers, stores and atomics with too little of something; once as it is, once trying at every reply, as if one could
# never know. Without compilation, so that the model's functions can be replaced.
CASE = """
import json, sys
sys.path.insert(0, "tests")
from support.engine_streams import alu, atomic, load, simulate, store
from warpsift.engine.sm import lsu

tries, look = [0], lsu.l1_load
def counted(*arguments):
    tries[0] += 1
    return look(*arguments)
lsu.l1_load = counted

warps = [[load(0, [(37 * w + 11 * k) % 97 for k in range(6)]), store([w % 50]), atomic(w % 7), alu(1, 1, wait=1),
          load(1, [5 * w + k for k in range(4)]), alu(1, 1, wait=2)] for w in range(12)]
found = []
for always in (False, True):
    if always:
        lsu.still_refused = lambda S, sm: 0
    tries[0] = 0
    found.append((dict(simulate(warps, "MACHINE", warps_per_cta=2, **OVERRIDES)), tries[0]))
print(json.dumps(found))
"""

FEW = {
    "lines": {"l1.size_bytes": 1024, "l1.ways": 2},
    "MSHRs": {"l1.mshrs": 2},
    "merges": {"l1.mshr_merges": 1},
    "flits": {"noc.buffer_flits": 8},
}


@pytest.mark.parametrize("machine", ["tx1", "gtx480-gpgpusim4"])
@pytest.mark.parametrize("lacking", FEW)
def test_counters_are_those_of_trying_at_every_reply(machine, lacking):
    text = CASE.replace("MACHINE", machine).replace("**OVERRIDES", f"**{FEW[lacking] | {'sm.count': 2}}")
    (ours, tries), (always, more) = json.loads(run_python(text, NUMBA_DISABLE_JIT="1"))
    assert ours == always
    assert ours["l1_reservation_fails"] + ours["l1_network_blocked_cycles"] > 0
    assert tries <= more
    if machine == "tx1" and lacking in ("lines", "MSHRs"):
        assert tries < more  # else nothing is saved
