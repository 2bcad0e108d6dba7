"""Agreement with GPGPU-Sim 4.2 on kernels that run in seconds; `warpsift validate` runs all of them."""

import pytest

from warpsift.machines import load_machine
from warpsift.validation.agreement import (
    LATENCIES,
    log_correlation,
    mean_absolute_error,
    reference_cases,
    run_case,
)
from warpsift.validation.chase import dram_latency, l1_latency, l2_latency

MEASURE = {"l1": l1_latency, "l2": l2_latency, "dram": dram_latency}
QUICK = {
    "gtx480-gpgpusim4": "stream:18 gather:16384 gather:16777216 hist:14 contract:500 pr:uni12 pr:grid64 bfs:uni12 "
    "sssp:uni12 sssp:grid64 wcc:uni12 wcc:uni14",
    "titanx": "stream:18 gather:16384 hist:14 pr:uni12 pr:uni14 pr:grid64 bfs:uni12 sssp:uni12",
}


@pytest.mark.parametrize(("machine", "level"), list(LATENCIES))
def test_pointer_chase_latency(machine, level):
    assert MEASURE[level](load_machine(machine)) == pytest.approx(LATENCIES[machine, level], rel=0.05)


@pytest.mark.parametrize("machine", list(QUICK))
def test_kernels_agree_with_the_reference(machine):
    wanted = set(QUICK[machine].split())
    cases = [c for c in reference_cases() if c.machine == machine and f"{c.workload}:{c.param}" in wanted]
    assert len(cases) == len(wanted)
    results = [run_case(case, checks=True) for case in cases]
    assert mean_absolute_error(results) < 0.10  # 5 % when this was written; 25 % would still be useful
    assert log_correlation(results) > 0.95
    for result in results:
        assert abs(result.error("l2_accesses")) < 0.10, result
        assert abs(result.error("dram_reads")) < 0.10, result
        assert abs(result.error("cycles")) < 0.40, result
