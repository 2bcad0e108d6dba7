"""The energy tables of docs/energy.md from a store of runs: savings, ceilings, and whether a conclusion survives.

    warpsift sweep examples/scu_tables.toml --store scu.db
    python -m warpsift.studies.saving_tables scu.db

Pairs every run with a unit with the plain run of the same algorithm, graph, GPU, style and options; means over graphs
and sources are geometric. For the MFF the compute stage counts, as in its paper.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable
from typing import Any

from warpsift.costs.ceilings import reduction_limit
from warpsift.costs.energy import GPU_IDLE, EnergyReport
from warpsift.costs.sensitivity import Conclusion, conclude, of_mean_ratio
from warpsift.run.comparison import COMPUTE_PHASE
from warpsift.store.canonical_json import to_json
from warpsift.store.rows import geometric_mean
from warpsift.store.store import Record, Store
from warpsift.store.stored_energy import energy_of_stored
from warpsift.studies.scu import scu_fig09 as fig09
from warpsift.studies.scu import scu_fig10 as fig10

SAME = ("algorithm", "graph", "gpu", "style")
Pairs = list[tuple[Record, Record]]


def paired(records: Iterable[Record]) -> dict[tuple[str, str, str], Pairs]:
    """(gpu, algorithm, unit) -> pairs of the plain run and the run with the unit; the newest of equal runs counts."""
    plain: dict[tuple[Any, ...], Record] = {}
    others: dict[tuple[Any, ...], Record] = {}
    for record in records:
        asked = record.request
        changed = asked["overrides"] or asked["visibility_ctas"] is not None  # rungs of a ladder
        if record.status != "done" or changed:
            continue
        others_asked = {name: value for name, value in asked.items() if name not in (*SAME, "unit")}
        key = (*(asked[name] for name in SAME), to_json(others_asked))
        if asked["unit"] == "none":
            plain[key] = record
        else:
            others[*key, asked["unit"]] = record
    found: dict[tuple[str, str, str], Pairs] = {}
    for (*same, unit), record in sorted(others.items(), key=lambda item: str(item[0])):
        if tuple(same) in plain:
            algorithm, _, gpu = same[:3]
            found.setdefault((gpu, algorithm, unit), []).append((plain[tuple(same)], record))
    return found


def reports(pairs: Pairs, gpu_idle: str) -> list[tuple[EnergyReport, EnergyReport]]:
    phase = COMPUTE_PHASE if pairs[0][1].request["unit"] == "mff" else None
    return [(energy_of_stored(a, gpu_idle, phase), energy_of_stored(b, gpu_idle, phase)) for a, b in pairs]


def row(case: tuple[str, str, str], pairs: Pairs) -> str:
    """One line of the table, in Markdown."""
    gpu, algorithm, unit = case
    modes = {mode: reports(pairs, mode) for mode in GPU_IDLE}
    found = {mode: conclude(both) for mode, both in modes.items()}
    best: Conclusion = found[GPU_IDLE[-1]]
    speedup = geometric_mean(before.seconds / after.seconds for before, after in modes["none"])
    static = statistics.fmean(before.static_joules / before.energy_joules for before, _ in modes["none"])
    weakest = [after.least_certain for _, after in modes[GPU_IDLE[-1]]]
    paper, fast = fig09.PAPER.get((gpu, algorithm)), fig10.PAPER.get((gpu, algorithm), 1.0)
    ceiling = f"{reduction_limit(static, fast):.2f}" if paper else ""
    cells = [
        f"{algorithm}, {gpu}, {unit}",
        str(len(pairs)),
        f"{speedup:.2f}",
        " / ".join(f"{found[mode].saving:.2f}" for mode in GPU_IDLE),
        f"{paper:g}" if paper else "",
        f"{100 * static:.0f} %",
        ceiling,
        f"{best.lowest:.2f} ({best.lowest_by}) to {best.highest:.2f} ({best.highest_by})",
        best.text,
        f"{100 * statistics.fmean(entry['share'] for entry in weakest):.0f} % "
        f"({', '.join(dict.fromkeys(str(entry['coefficient']) for entry in weakest))})",
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "| algorithm, GPU, unit | pairs | speedup | saving: SMs clocked / clock-gated / power-gated | paper | static | "
    "ceiling at the paper's speedup | if one price is wrong by 2 | power-gated | rests on the least certain |"
)


def main(path: str) -> None:
    with Store(path, readonly=True) as ledger:
        cases = paired(ledger.records())
    print(HEAD)
    print("|" + "---|" * HEAD.count(" | ") + "---|")
    for case, pairs in cases.items():
        print(row(case, pairs))
    for case, pairs in cases.items():
        rows = of_mean_ratio(reports(pairs, GPU_IDLE[-1]))[:6]
        listed = "; ".join(f"{r.coefficient} ({100 * r.share:.0f} %) {r.halved:.2f}, {r.doubled:.2f}" for r in rows)
        print(f"{', '.join(case)}: price (share of the plain energy), saving at x 0.5 and x 2: {listed}")


if __name__ == "__main__":
    main(sys.argv[1])
