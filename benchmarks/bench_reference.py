"""Speed beside GPGPU-Sim 4.2: the 35 programs of `warpsift validate`, whole runs, recording included.

Ours is processor time of one core. GPGPU-Sim's is the wall time that `validation/reference.csv` holds, measured on two
cores with other work beside it; so the ratio is a magnitude, not a measurement to two digits.
"""

from __future__ import annotations

import statistics
import time

from warpsift.validation.agreement import Case, reference_cases, run_case


def seconds(case: Case) -> float:
    """Processor seconds of the whole run, its answer checked."""
    begun = time.thread_time()
    run_case(case)
    return time.thread_time() - begun


def main() -> None:
    cases = reference_cases()
    run_case(cases[0])  # compiles, or loads what is compiled
    print(f"{'':27} {'thousand inst/s':>26} {'GPGPU-Sim time / ours':>24}")
    print(f"{'machine':18} {'programs':>8} {'ours':>14} {'GPGPU-Sim':>11} {'least':>9} {'median':>7} {'most':>6}")
    for machine in dict.fromkeys(case.machine for case in cases):
        chosen = [case for case in cases if case.machine == machine]
        took = [seconds(case) for case in chosen]
        instructions = sum(case.reference["warp_instructions"] for case in chosen)
        rates = [instructions / total / 1e3 for total in (sum(took), sum(case.host_seconds for case in chosen))]
        ratios = [case.host_seconds / mine for case, mine in zip(chosen, took, strict=True)]
        print(
            f"{machine:18} {len(chosen):8} {rates[0]:14.0f} {rates[1]:11.1f} {min(ratios):9.0f} "
            f"{statistics.median(ratios):7.0f} {max(ratios):6.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
