"""What a larger L1 would cost in power and time; the study of larger caches leaves it out (MFF paper, section 6.2)."""

from __future__ import annotations

from warpsift.costs.cacti_table import figures

L1_BYTES = 16 * 1024  # of the paper's GTX 480


def price_of_l1(factor: int = 16, node_nm: int = 32) -> dict[str, float]:
    """What CACTI says a larger L1 costs, relative to the 16 KB one."""
    small = figures("cache", L1_BYTES, 256, node_nm, 4)
    large = figures("cache", L1_BYTES * factor, 256, node_nm, 4)
    return {
        "active_power": large.read_pj / small.read_pj,
        "static_power": large.leakage_mw / small.leakage_mw,
        "latency": large.access_ns / small.access_ns,
        "area": large.area_mm2 / small.area_mm2,
    }
