"""Benchmarks: what `make bench` measures. Timing lives here, never in a test's assertion."""


def driver_of(algorithm: str, unit: str, machine):
    """How a unit runs an algorithm; `none` is the frontier style on the plain GPU."""
    from warpsift.algorithms import ALGORITHMS
    from warpsift.units import resolve

    chosen = resolve(unit)
    return ALGORITHMS[algorithm].styles["frontier"] if chosen is None else chosen.driver(algorithm, machine)
