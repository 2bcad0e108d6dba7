"""The six reference memories against DRAMsim3 and Ramulator 1."""

from __future__ import annotations

import csv
import tomllib

import numpy as np
import pytest

from support.places import REFERENCE
from warpsift.engine.dram.dram_harness import MEMORY_DIRECTORY, load_memory
from warpsift.engine.dram.dram_validate import PATTERNS, format_table, pattern, splitmix64, validate_dram

TABLE = REFERENCE / "dram_reference.csv"
RESULTS = tomllib.loads((MEMORY_DIRECTORY / "reference" / "results.toml").read_text())


@pytest.mark.parametrize("memory", RESULTS)
def test_clocks_per_request_agree(memory):
    """All patterns with a known value within 3 % (the goal for random, row conflicts and mixed is 10 %)."""
    table = validate_dram([memory], [p for p in PATTERNS if p in RESULTS[memory]])
    for row in table:
        assert row.ratio == pytest.approx(1, abs=0.03), row
    assert all(row.memory in format_table(table) for row in table)


def test_nothing_beats_the_bus_or_the_row_cycle():
    """Cases without a reference obey their bounds: the data bus, tRC for one bank, the refresh share."""
    for row in validate_dram(["ramulator1-gddr5-7000"]):
        t, spec = load_memory(row.memory).timing, load_memory(row.memory)
        bound = t.rc if row.pattern == "rowstride" else spec.burst_clocks
        assert row.ours >= bound
        assert row.bus_utilisation <= 1 - t.rfc / t.refi + 0.01


@pytest.mark.skipif(not TABLE.exists(), reason="../shared/reference/dram_reference.csv is not there")
def test_patterns_and_values_are_those_of_the_reference_files():
    seen = {}
    for r in csv.DictReader(TABLE.open()):
        memory = {
            "ds3_GDDR5_8Gb_x32_32B": "dramsim3-gddr5-8gb-x32-32b",
            "ds3_GDDR5_8Gb_x32": "dramsim3-gddr5-8gb-x32",
            "ds3_LPDDR4_8Gb_x16_2400": "dramsim3-lpddr4-8gb-x16-2400",
            "ram1_GDDR5_6000": "ramulator1-gddr5-6000",
            "ram1_GDDR5_7000": "ramulator1-gddr5-7000",
            "ram1_LPDDR4_3200": "ramulator1-lpddr4-3200",
        }[r["config"]]
        facts = RESULTS[memory]
        assert facts[r["pattern"]] == float(r["cycles_per_request"])
        a, w = pattern(r["pattern"], int(r["request_bytes"]), facts["row_stride_bytes"], facts["rows"])
        with np.errstate(over="ignore"):
            mixed = a.astype(np.uint64) * np.uint64(2) + w.astype(np.uint64)
            mixed += np.arange(a.size, dtype=np.uint64) << np.uint64(36)
            fingerprint = int(splitmix64(0, mixed).sum(dtype=np.uint64))
        assert f"{fingerprint:016x}" == r["pattern_fingerprint"]
        seen[memory, r["pattern"]] = True
    assert len(seen) >= 16
