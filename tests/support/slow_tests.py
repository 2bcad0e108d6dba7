"""Which tests the shorter runs leave out: files and folders under `tests/`."""

from __future__ import annotations

# What `make test-quick` leaves out (marker `slow`): tests that start commands or clusters, build figures, synthesise or
# simulate hardware, compile anew, or run algorithms on many graphs. What is left takes under 90 s on two quiet cores.
SLOW = (
    "algorithms",
    "cli",
    "costs/test_costs_cacti.py",
    "docs/test_code_blocks.py",
    "engine/dram/test_dram.py",
    "engine/dram/test_dram_oracle.py",
    "engine/test_engine_jit.py",
    "engine/test_leaps.py",
    "engine/test_refused_misses.py",
    "graph/test_graph_limits.py",
    "graph/test_graph_webgraph.py",
    "hdl",
    "machines/test_machine_ranges.py",
    "machines/test_odd_machines.py",
    "report",
    "run",
    "search/test_search_runs.py",
    "simt/test_vector_machine.py",
    "store/test_asking.py",
    "studies",
    "sweep/test_isolation.py",
    "sweep/test_lost_scheduler.py",
    "sweep/test_sweep_command.py",
    "sweep/test_sweep_runs.py",
    "sweep/test_worker_pools.py",
    "test_examples.py",
    "test_fuzz.py",
    "traces/test_traces_write.py",
    "units/mff/test_mff_kernels.py",
    "units/scu/test_scu_algorithms.py",
    "units/test_unit_contract.py",
    "units/test_unit_of_another_package.py",
    "validation",
)

# What `make test` leaves out too (marker `long`) and `make check` runs: hardware simulated gate by gate, every block of
# the documentation, every figure of the papers, searches, long traces, hostile inputs, compilation from nothing, and
# sweeps and clusters that are killed and started again.
LONG = (
    "docs/test_code_blocks.py",
    "engine/test_engine_jit.py",
    "graph/test_graph_limits.py",
    "hdl/test_hdl_area.py",
    "hdl/test_hdl_cycles.py",
    "hdl/test_hdl_scu.py",
    "report/test_report_notebook.py",
    "search/test_search_runs.py",
    "studies/test_energy_claims.py",
    "studies/test_papers_figures.py",
    "sweep/test_lost_scheduler.py",
    "sweep/test_sweep_command.py",
    "sweep/test_worker_pools.py",
    "test_fuzz.py",
    "traces/test_traces_write.py",
    "units/test_unit_of_another_package.py",
)
