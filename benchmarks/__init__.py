"""Benchmarks: what `make bench` measures. Timing lives here, never in a test's assertion."""
