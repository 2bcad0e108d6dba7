"""How fast SCU operations simulate: elements per second of host time, function alone and with timing."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from warpsift.engine.engine import Engine
from warpsift.machines import load_machine
from warpsift.simt import Counter, Gpu
from warpsift.units import unit_named
from warpsift.units.scu.scu_api import Scu

N = 1 << 20
REPEATS = 3


def _operations(scu: Scu) -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(0)
    memory = scu.gpu.memory
    data = memory.array("data", rng.integers(0, N, N).astype(np.int32))
    out = memory.empty("out", N)
    half = memory.array("half", rng.integers(0, 1 << 32, N // 32, dtype=np.uint32))
    lists = memory.array("lists", (rng.permutation(N // 32) * 32).astype(np.int32))
    counts = memory.array("counts", np.full(N // 32, 32, np.int32))
    singles = memory.array("singles", rng.permutation(N)[: N // 8].astype(np.int32))
    table = scu.filter_table("table", 1 << 20, N)
    return {
        "bitmask": lambda: scu.bitmask(data, "<", N // 2),
        "compact half": lambda: scu.data_compaction(data, half, out=out),
        "compact all": lambda: scu.data_compaction(data, None, out=out),
        "expand lists of 32": lambda: scu.access_expansion_compaction(data, lists, counts, out=out),
        "gather singles": lambda: scu.access_compaction(data, singles, None, out=out),
        "filter": lambda: scu.data_compaction(data, None, filter=table),
    }


def _rates(sink) -> dict[str, float]:
    machine = getattr(sink, "machine", None)
    scu = Scu(Gpu(sink, memory_bytes=1 << 28), None if machine is None else machine.unit("scu"))
    rates = {}
    for name, call in _operations(scu).items():
        call()  # compiles
        seconds = []
        for _ in range(REPEATS):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
        inputs = N // 8 if "singles" in name else N
        rates[name] = inputs / sorted(seconds)[REPEATS // 2] / 1e6
    return rates


def main() -> None:
    print("SCU operations, million input elements per second of processor time (median of 3)")
    columns = {"function": _rates(Counter())}
    for gpu in ("gtx980", "tx1"):
        columns[gpu] = _rates(Engine(load_machine(gpu), unit_named("scu").components()))
    print(f"{'operation':20}" + "".join(f"{name:>10}" for name in columns))
    for name in columns["function"]:
        print(f"{name:20}" + "".join(f"{column[name]:10.2f}" for column in columns.values()))


if __name__ == "__main__":
    main()
