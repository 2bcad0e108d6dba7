"""Many runs: described in a file or as a list of requests, kept in a store, run in parallel.

from warpsift.sweep import run_sweep, SweepOptions
results = run_sweep(requests, "results.db", SweepOptions(workers=2))
results[request].result["cycles"]
"""

from warpsift.sweep.plan import Point, plan
from warpsift.sweep.sweep_file import SweepError, read_sweep, sweep_requests
from warpsift.sweep.sweep_run import FailedRun, Results, SweepOptions, run_sweep

__all__ = [
    "FailedRun",
    "Point",
    "Results",
    "SweepError",
    "SweepOptions",
    "plan",
    "read_sweep",
    "run_sweep",
    "sweep_requests",
]
