"""The shipped result of synthesis as a table, part by part and by width: `python -m warpsift.hdl.areas`.

Needs none of the tools: it reads what `make synth` wrote.
"""

from __future__ import annotations

import csv
from collections.abc import Callable

from warpsift.hdl.synthesis import PARTS, TABLE, MemoryMacro, PartArea


def shipped() -> dict[int, dict[str, PartArea]]:
    """Parts by width."""
    found: dict[int, dict[str, PartArea]] = {}
    with TABLE.open() as file:
        for row in csv.DictReader(file):
            sizes = [text.split("x") for text in row["memories"].split()]
            memories = tuple(MemoryMacro("", int(bits), int(words)) for words, bits in sizes)
            part = PartArea(int(row["cells"]), int(row["flip_flops"]), float(row["library_um2"]), memories)
            found.setdefault(int(row["width"]), {})[row["part"]] = part
    return found


def table() -> list[str]:
    """Lines of Markdown, mm² at 32 nm: logic + memory of each part, and totals."""
    widths = shipped()

    def total(value: Callable[[PartArea], float]) -> list[float]:
        return [sum(value(part) for part in parts.values()) for parts in widths.values()]

    rows = [["part", *(f"width {width}" for width in widths)], ["---"] * (len(widths) + 1)]
    for name in PARTS:
        parts = [found[name] for found in widths.values()]
        cells = [f"{p.logic_mm2():.4f} + {p.memory_mm2():.4f}" if p.memories else f"{p.logic_mm2():.4f}" for p in parts]
        rows.append([name.replace("_", " "), *cells])
    logic, memory = total(lambda p: p.logic_mm2()), total(lambda p: p.memory_mm2())
    rows.append(["**logic**", *(f"{value:.3f}" for value in logic)])
    rows.append(["**memory**", *(f"{value:.3f}" for value in memory)])
    rows.append(["**together**", *(f"**{a + b:.2f}**" for a, b in zip(logic, memory, strict=True))])
    rows.append(["cells", *(f"{value:,.0f}" for value in total(lambda p: p.cells))])
    rows.append(["flip-flops", *(f"{value:,.0f}" for value in total(lambda p: p.flip_flops))])
    return [f"| {' | '.join(row)} |".replace("| --- ", "|---").replace("|--- |", "|---|") for row in rows]


if __name__ == "__main__":
    print("\n".join(table()))
