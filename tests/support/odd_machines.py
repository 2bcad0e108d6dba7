"""Odd machines for tests: keys at their bounds and in tiny combinations, from a seed; and a run that must end well.

A machine that is accepted must give the right answer: no deadlock, no lost request, no wrong counter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warpsift.algorithms import ALGORITHMS
from warpsift.engine.engine import Engine, EngineError
from warpsift.errors import WarpsiftError
from warpsift.graph import load_graph
from warpsift.machines import Machine, MachineError, load_machine
from warpsift.machines.ranges import Declared, declared
from warpsift.machines.unit_sections import spec_types
from warpsift.run.rehearsal import rehearse
from warpsift.simt import Gpu, Residency
from warpsift.units import resolve

BASES = ("gtx980", "tx1", "gtx480", "gtx480-gpgpusim4", "titanx")
GRAPHS = ("rmat-5", "grid-5x4", "kron-5", "delaunay-5")
UNITS = ("none", "scu", "mff", "scu-basic", "next-line", "scu-slice", "iru", "iscu")
MOST_CYCLES = 200_000_000  # a run on 32 vertices that takes longer stands still
SECTIONS = [(Machine, ""), *((kind, f"{section}.") for section, kind in spec_types().items())]
# Tables that an operation clears line by line: right, but minutes of simulation together with a slow memory.
SLOW_WHEN_LARGE = ("scu.bfs_filter_bytes", "scu.sssp_filter_bytes", "scu.sssp_group_bytes")
KEYS = {key.key: key for struct, prefix in SECTIONS for key in declared(struct, prefix)}
ODD = [key for key in KEYS.values() if key.choices or key.bounds is not None]


def one_key_machines() -> list[tuple[str, dict[str, Any]]]:
    """Every key at 1, at both bounds and one inside, and every choice, each alone on a machine."""
    found = []
    for number, key in enumerate(ODD):
        for value in dict.fromkeys(_values(key)):
            found.append((BASES[number % len(BASES)], {key.key: value}))
    return found


def _values(key: Declared) -> list[Any]:
    if key.bounds is None:
        return list(key.choices)
    low, high = key.bounds.low, key.bounds.high
    values = list(key.bounds.only) or [low, low + 1, 1, 2, 3, 4, 8, high - 1, high]
    return [value for value in values if key.bounds.allows(value)]


def random_machine(seed: int) -> tuple[str, dict[str, Any]]:
    """A machine of tiny parts, some drawn together so that they fit one another."""
    rng = np.random.default_rng(seed)
    chosen: dict[str, Any] = {}
    for part in (_sm, _l1, _l2_and_dram, _noc, _dram_queues, _dram_timing, _mff, _scu):
        if rng.random() < 0.5:
            chosen.update(part(rng))
    for _ in range(rng.integers(0, 6)):
        key = ODD[rng.integers(len(ODD))]
        values = [value for value in _values(key) if not (key.key in SLOW_WHEN_LARGE and value > 1 << 20)]
        chosen[key.key] = values[rng.integers(len(values))]
    return str(rng.choice(BASES)), {key: _plain(value) for key, value in chosen.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _few(rng: np.random.Generator, *values: Any) -> Any:
    return values[rng.integers(len(values))]


def _sm(rng: np.random.Generator) -> dict[str, Any]:
    warps = _few(rng, 8, 9, 16, 64)
    return {
        "sm.count": _few(rng, 1, 2, 3, 15),
        "sm.warps": warps,
        "sm.threads": 32 * _few(rng, 8, warps),
        "sm.ctas": _few(rng, 1, 2, 64),
        "sm.schedulers": _few(rng, 1, 2, 3, warps),
        "sm.lanes_per_scheduler": _few(rng, 1, 8, 32),
        "sm.lsu_queue_entries": _few(rng, 1, 2, 7),
        "sm.lsu_latency_cycles": _few(rng, 0, 1, 12),
        "sm.alu_latency_cycles": _few(rng, 1, 2, 6),
        "sm.shared_latency_cycles": _few(rng, 0, 1, 23),
    }


def _l1(rng: np.random.Generator) -> dict[str, Any]:
    ways = _few(rng, 1, 2, 3)
    return {
        "l1.ways": ways,
        "l1.size_bytes": 128 * ways * _few(rng, 1, 2, 3, 8),
        "l1.mshrs": _few(rng, 1, 2, 3),
        "l1.mshr_merges": _few(rng, 1, 2, 3),
        "l1.latency_cycles": _few(rng, 0, 1, 30),
        "l1.pipeline_lines": _few(rng, 0, 1, 2, 35),
        "l1.fill_bytes": _few(rng, 32, 128),
        "l1.cached_loads": _few(rng, True, True, False),
        "l1.write_hit": _few(rng, "update", "evict"),
    }


def _l2_and_dram(rng: np.random.Generator) -> dict[str, Any]:
    channels, ways = _few(rng, 1, 2, 3), _few(rng, 1, 2, 3)
    slices = channels * _few(rng, 1, 2, 3)
    banks, groups = _few(rng, (1, 1), (2, 1), (4, 2), (8, 8), (16, 4))
    ranks, burst = _few(rng, 1, 1, 2), _few(rng, 32, 64, 128, 256)
    bits = {name: int(n).bit_length() - 1 for name, n in (("rank", ranks), ("bank", banks), ("burst", burst))}
    return {
        "dram.channels": channels,
        "l2.slices": slices,
        "l2.ways": ways,
        "l2.size_bytes": 128 * slices * ways * _few(rng, 1, 2, 5),
        "l2.fill_bytes": _few(rng, 32, 128),
        "l2.mshrs": _few(rng, 4, 5, 7),
        "l2.mshr_merges": _few(rng, 1, 2, 3),
        "l2.queue_entries": _few(rng, 4, 5, 9),
        "l2.dram_queue_entries": _few(rng, 8, 9),
        "l2.latency_cycles": _few(rng, 0, 1, 50),
        "l2.interleave_bytes": 128 * _few(rng, 1, 2, 3),
        "l2.mapping": _few(rng, "modulo", "hashed", "random"),
        "dram.banks": banks,
        "dram.bank_groups": groups,
        "dram.ranks": ranks,
        "dram.burst_bytes": burst,
        "dram.request_bytes": min(burst, _few(rng, 32, 64, 128)),
        "dram.address_map": f"row{_few(rng, 1, 12)} rank{bits['rank']} bank{bits['bank']} col3 burst{bits['burst']}",
    }


def _noc(rng: np.random.Generator) -> dict[str, Any]:
    flit, header = _few(rng, 1, 7, 32, 200), _few(rng, 1, 8)
    command = -(-(header + 152) // flit)
    separate = 4 * -(-(header + 32) // flit)
    speedup, per_request = _few(rng, 1, 1, 2), _few(rng, 1, 4)
    least = max(command, 4 * (-(-header // flit) if per_request == 1 else 1))
    return {
        "noc.flit_bytes": flit,
        "noc.header_bytes": header,
        "noc.buffer_flits": least + _few(rng, 0, 1, 5),
        "l2.reply_queue_entries": max(1, separate - least) + _few(rng, 0, 1),
        "noc.speedup": speedup,
        "noc.output_buffer_flits": _few(rng, 1, 2, 9) if speedup > 1 else _few(rng, 0, 1, 3),
        "noc.hop_latency_cycles": _few(rng, 0, 1, 4),
        "noc.request_sectors_per_packet": per_request,
        "noc.reply_sectors_per_packet": _few(rng, 1, 4),
    }


def _dram_queues(rng: np.random.Generator) -> dict[str, Any]:
    writes = _few(rng, 0, 0, 1, 2, 5)
    high = _few(rng, 1, writes) if writes else 0
    per_bank = _few(rng, 0, 0, 1, 2)
    return {
        "dram.queue_entries": _few(rng, 1, 2, 3),
        "dram.write_queue_entries": writes,
        "dram.write_drain_high": max(high, 0),
        "dram.write_drain_low": max(high - 1, 0),
        "dram.write_drain_idle": _few(rng, 0, 1, 2, 9),
        "dram.write_drain_batch": _few(rng, True, False),
        "dram.inflight_entries": _few(rng, 0, 1, 2, 9),
        "dram.bank_queue_entries": per_bank,
        "dram.bank_queue_fill": _few(rng, "oldest", "row_hit") if per_bank and not writes else "oldest",
        "dram.activated_first": _few(rng, True, False) if not per_bank else False,
        "dram.starvation_clocks": _few(rng, 0, 1, 50) if not per_bank else 0,
        "dram.hit_cap": _few(rng, 0, 1, 2),
        "dram.arbitration": _few(rng, "column_first", "oldest", "round_robin"),
        "dram.precharge": _few(rng, "after_hits", "any"),
        "dram.page_policy": _few(rng, "open", "closed"),
    }


def _dram_timing(rng: np.random.Generator) -> dict[str, Any]:
    names = [name for name in KEYS if name.startswith("dram.timing.")]
    chosen = {name: int(rng.integers(1, 30)) for name in names if rng.random() < 0.5}
    chosen["dram.timing.rfc"] = int(rng.integers(1, 30))
    chosen["dram.timing.refi"] = _few(rng, 0, 40, 60, 80, 100, 150, 200, 400, 3000)
    chosen["dram.refresh"] = _few(rng, "all_bank", "per_bank", "none")
    chosen["dram.refresh_precharge"] = _few(rng, "all", "each")
    chosen["dram.powerdown_idle_clocks"] = _few(rng, 0, 1, 64)
    return chosen


def _mff(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "mff.issue_engines": _few(rng, 1, 2, 3),
        "mff.jobs_per_engine": _few(rng, 1, 2),
        "mff.work_registers": _few(rng, 1, 2, 5, 33),
        "mff.tags_per_memory_unit": _few(rng, 1, 2, 3),
        "mff.lines_per_memory_unit": _few(rng, 1, 2),
        "mff.line_allocation": _few(rng, "fill", "issue"),
        "mff.fetch_bytes": _few(rng, 32, 128),
        "mff.words_per_reply": _few(rng, 1, 2, 32),
        "mff.updates_per_cycle": _few(rng, 1, 2),
        "mff.replies_per_cycle": _few(rng, 1, 2),
        "mff.lookups_per_cycle": _few(rng, 1, 2),
    }


def _scu(rng: np.random.Generator) -> dict[str, Any]:
    ports = _few(rng, 0, 1, 2)
    return {
        "scu.width": _few(rng, 1, 2, 3, 16),
        "scu.vector_buffer_bytes": 1024,
        "scu.fetch_fifo_bytes": _few(rng, 1024, 1100),
        "scu.inflight_requests": _few(rng, 0, 1, 2, 3),
        "scu.merge_window": _few(rng, 1, 2, 32),
        "scu.request_bytes": _few(rng, 32, 128),
        "scu.store_open_lines": _few(rng, 1, 2),
        "scu.hash_ports": ports,
        "noc.unit_ports": 1 + ports,
        "scu.hash_buffer_bytes": _few(rng, 144, 300),
        "scu.probe_limit": _few(rng, -1, 0, 1, 2),
        "scu.hash_ways": _few(rng, 1, 2, 16),
        "scu.bfs_filter_bytes": _few(rng, 512, 1024),
        "scu.sssp_filter_bytes": _few(rng, 512, 1024),
        "scu.sssp_group_bytes": _few(rng, 512, 1024),
        "scu.group_elements": _few(rng, 1, 2, 8),
    }


def too_long(cycles: int) -> None:
    if cycles > MOST_CYCLES:
        raise EngineError(f"still running after {cycles} cycles")


def try_machine(base: str, overrides: dict[str, Any], number: int, engine_of: Callable[..., Engine] = Engine) -> str:
    """Run a small case with all checks: "right", "refused", or what went wrong."""
    try:
        machine = load_machine(base, overrides)
    except MachineError as error:
        text = str(error)
        return "refused" if "\n" not in text and len(text) < 500 else f"a bad error line: {text}"
    algorithm, unit = list(ALGORITHMS)[number % 4], UNITS[(number // 4) % len(UNITS)]
    plugged = resolve(unit)
    if plugged is not None and plugged.style is not None and algorithm not in plugged.drivers(None):
        algorithm = next(iter(plugged.drivers(None)))
    chosen = ALGORITHMS[algorithm]
    limit = 3 if algorithm == "pagerank" else None
    graph, options = chosen.prepare(load_graph(GRAPHS[(number // 16) % 4]), chosen.options(max_iterations=limit))
    style = chosen.styles[("frontier", "vertex")[number % 2]]
    driver = style if plugged is None or plugged.style is None else plugged.driver(algorithm, machine)
    try:
        rehearse(driver, chosen, options, machine)
    except EngineError as error:  # a CTA that the SMs have no room for, known before the run
        return "refused" if "per CTA, but sm." in str(error) else f"{algorithm} {unit}: {error}"
    try:
        engine = engine_of(machine, plugged.components() if plugged else (), checks=True, progress=too_long)
    except WarpsiftError:  # a unit that does not fit, such as ports that the crossbar has not
        return "refused"
    try:
        gpu = Gpu(engine, residency=Residency(machine.sm.count, machine.sm.threads))
        outcome = driver(gpu, graph, options)
        verdict = chosen.check(graph, outcome, options)
    except (EngineError, AssertionError) as error:
        return f"{algorithm} {unit}: {error}"
    finally:
        engine.close()
    return "right" if verdict.passed else f"{algorithm} {unit}: wrong answer: {verdict.reason}"
