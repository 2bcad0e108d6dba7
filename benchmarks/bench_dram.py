"""How fast the memory model runs: transactions per host second, one channel alone, one core, median of five."""

from __future__ import annotations

import platform
import statistics
import time

from warpsift.engine.dram.dram_harness import load_memory, run_pattern
from warpsift.engine.dram.dram_validate import pattern

MEMORIES = (
    "gddr5-7010-gtx980",
    "lpddr4-3200-tx1",
    "gpgpusim-gtx480",
    "dramsim3-gddr5-8gb-x32",
    "ramulator1-gddr5-6000",
)
PATTERNS = ("seq", "rand1g", "rand64m_w30")


def seconds_per_run(memory: str, name: str, n: int) -> float:
    """Processor seconds (the machine may be busy with other work), median of five."""
    spec = load_memory(memory)
    addresses, writes = pattern(name, spec.request_bytes, 1 << 18, 4096, n)
    times = []
    for _ in range(5):
        start = time.process_time()
        run_pattern(spec, addresses, writes)
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> None:
    print(f"DRAM model alone, million transactions per second, {platform.processor() or platform.machine()}")
    print(f"{'memory':26s}" + "".join(f"{name:>14s}" for name in PATTERNS))
    for memory in MEMORIES:
        rates = [40_000 / seconds_per_run(memory, name, 40_000) / 1e6 for name in PATTERNS]
        print(f"{memory:26s}" + "".join(f"{rate:14.2f}" for rate in rates))
    small = seconds_per_run(MEMORIES[0], "rand1g", 10_000) / 10_000
    large = seconds_per_run(MEMORIES[0], "rand1g", 640_000) / 640_000
    print(f"time per transaction at 64 times the work: {large / small:.2f}x")


if __name__ == "__main__":
    main()
