"""The memory model against DRAMsim3 and Ramulator 1: the same address patterns on the same memories.

Six memories as those simulators ship them, six patterns given by formulas, 200 000 requests each. The measure is clocks
per request; the reference values are in machines/dram/reference/results.toml (some cases have none and are shown
without a ratio).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from warpsift.engine.dram.dram_harness import MEMORY_DIRECTORY, load_memory, run_pattern

REQUESTS = 200_000
PATTERNS = ("seq", "rand1g", "rowstride", "rand64m_w30", "streams8", "streams8_skew")


@dataclass(frozen=True)
class Row:
    """One case: clocks per request, ours and the reference's (None: not known)."""

    memory: str
    pattern: str
    ours: float
    reference: float | None
    row_hit_rate: float
    bus_utilisation: float

    @property
    def ratio(self) -> float | None:
        return None if self.reference is None else self.ours / self.reference


def splitmix64(seed: int, i: np.ndarray) -> np.ndarray:
    """Steele, Lea and Flood's mixer (OOPSLA 2014) of (seed << 40) + i: a formula in place of a random file."""
    with np.errstate(over="ignore"):
        x = np.uint64(seed << 40) + i.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def pattern(
    name: str, request_bytes: int, row_stride_bytes: int, rows: int, n: int = REQUESTS
) -> tuple[np.ndarray, np.ndarray]:
    """Byte addresses and write flags of a pattern."""
    i = np.arange(n, dtype=np.int64)
    writes = np.zeros(n, bool)
    if name == "seq":
        return i * request_bytes, writes
    if name == "rand1g":  # uniform over 1 GiB
        block = splitmix64(71, i) % np.uint64((1 << 30) // request_bytes)
        return block.astype(np.int64) * request_bytes, writes
    if name == "rowstride":  # the next row of the same bank every time
        return (i % rows) * row_stride_bytes + (i // rows) * request_bytes, writes
    if name == "rand64m_w30":  # uniform over 64 MiB, 30 % writes
        block = splitmix64(73, i) % np.uint64((1 << 26) // request_bytes)
        return block.astype(np.int64) * request_bytes, splitmix64(79, i) % np.uint64(100) < 30
    if name in ("streams8", "streams8_skew"):  # eight streams that start in one bank, or 8 KiB further each
        distance = (1 << 27) + (8192 if name == "streams8_skew" else 0)
        return (i % 8) * distance + (i // 8) * request_bytes, writes
    raise ValueError(f"no pattern {name!r}; known patterns: {', '.join(PATTERNS)}")


def validate_dram(memories: Iterable[str] | None = None, patterns: Iterable[str] = PATTERNS) -> list[Row]:
    """Run the cases; about 0.2 s each. `memories`: names of reference memories, default all six."""
    reference = tomllib.loads((MEMORY_DIRECTORY / "reference" / "results.toml").read_text())
    table = []
    for memory in memories or reference:
        facts = reference[memory]
        spec = load_memory(memory)
        for name in patterns:
            addresses, writes = pattern(name, spec.request_bytes, facts["row_stride_bytes"], facts["rows"])
            c = run_pattern(spec, addresses, writes)
            columns = max(c["dram_reads"] + c["dram_writes"], 1)
            table.append(
                Row(
                    memory=memory,
                    pattern=name,
                    ours=c["cycles"] / REQUESTS,
                    reference=facts.get(name),
                    row_hit_rate=c["dram_row_hits"] / columns,
                    bus_utilisation=c["dram_busy_clocks"] / c["cycles"],
                )
            )
    return table


def format_table(table: Iterable[Row]) -> str:
    """The rows as a Markdown table (also readable on a terminal)."""
    lines = [
        "| memory | pattern | clocks/request | reference | ratio | row hits | bus |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in table:
        reference = "–" if row.reference is None else f"{row.reference:.3f}"
        ratio = "–" if row.ratio is None else f"{row.ratio:.3f}"
        lines.append(
            f"| {row.memory} | {row.pattern} | {row.ours:.3f} | {reference} | {ratio} "
            f"| {row.row_hit_rate:.3f} | {row.bus_utilisation:.3f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(format_table(validate_dram()))
