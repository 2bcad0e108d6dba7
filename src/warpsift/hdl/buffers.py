"""Buffers of the SCU without a memory compiler, synthesised: `python -m warpsift.hdl.buffers` (a minute; needs Yosys).

The paper's area (13.27 mm2) asks what its 61 KB of buffers are made of. Two ways to write one in Verilog:
    flip_flop       an array of words with a write enable each and a multiplexer that reads any of them: what a FIFO
                    becomes whose replies arrive in any order
    shift_register  words that move on together; read at the end, so no multiplexer, and strictly in order
Cells are flip-flops and two-input NANDs, priced as the library of the SCU paper has them (costs/tables/cells.toml).
Words are those of a unit of width 1 and 4, 64 bit per lane. Gates per bit hardly depend on the number of words (a tree
of n words has n - 1 nodes), so 1 KB stands for all. The result is shipped as units/scu/buffer_synthesis.csv.
"""

from __future__ import annotations

import csv
import json
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from warpsift.costs.area import cells, flip_flops_mm2
from warpsift.hdl import yosys
from warpsift.units.scu import synthesis_table

TABLE = Path(synthesis_table.__file__).parent / "buffer_synthesis.csv"
KINDS = ("flip_flop", "shift_register")
LANE_BITS = 64
BUFFER_BITS = 8 * (5120 + 38912 + 18432)  # SCU paper, table 1: vector buffer, request FIFO, hash request buffer

_FLIP_FLOP = """
module buffer(input clk, input write, input [{top}:0] to, input [{top}:0] from, input [{last}:0] in,
              output [{last}:0] out);
  reg [{last}:0] words [0:{words_last}];
  always @(posedge clk) if (write) words[to] <= in;
  assign out = words[from];
endmodule
"""
# All words move when one is written: with the clock of the whole register gated, no bit needs a multiplexer.
_SHIFT_REGISTER = """
module buffer(input clk, input [{last}:0] in, output [{last}:0] out);
  reg [{all_last}:0] words;
  always @(posedge clk) words <= {{words[{all_last}-{bits}:0], in}};
  assign out = words[{all_last}:{all_last}-{last}];
endmodule
"""


@dataclass(frozen=True)
class BufferCells:
    """What a buffer became."""

    kind: str
    width: int
    size_bytes: int
    flip_flops: int
    nand2: int

    @property
    def gates_per_bit(self) -> float:
        return self.nand2 / (8 * self.size_bytes)

    def mm2(self, bits: int = BUFFER_BITS, copies: int = 1) -> float:
        """Placed area of so many bits of it, at 32 nm: flip-flops as they are, gates at the logic's utilisation."""
        gates = bits * self.gates_per_bit * cells()["nand2_um2"] / cells()["utilisation"] / 1e6
        return copies * (flip_flops_mm2(bits, 32) + gates)


def verilog(kind: str, width: int, size_bytes: int) -> str:
    bits = LANE_BITS * width
    words = 8 * size_bytes // bits
    text = _FLIP_FLOP if kind == "flip_flop" else _SHIFT_REGISTER
    sizes = {"bits": bits, "last": bits - 1, "words_last": words - 1, "all_last": bits * words - 1}
    return text.format(top=(words - 1).bit_length() - 1, **sizes)


def synthesise(kind: str, width: int, size_bytes: int = 1024) -> BufferCells:
    """Map a buffer onto flip-flops and NANDs. A write enable is a gated clock for its word, as in a real library."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "buffer.v", Path(folder) / "stat.json"
        source.write_text(verilog(kind, width, size_bytes))
        yosys.run(
            f"read_verilog {source}",
            "hierarchy -top buffer",
            "proc",
            "opt",
            "memory -nomap",
            "memory_map",
            "opt",
            "techmap",
            "opt",
            "abc -g NAND",
            "opt_clean",
            f"tee -q -o {result} stat -json",
            what=f"{kind} buffer of {size_bytes} B, width {width}",
        )
        found = json.loads(result.read_text())["design"]["num_cells_by_type"]
    flops = sum(count for cell, count in found.items() if "DFF" in cell)
    # An inverter counts as a NAND, which is what it costs at most
    gates = sum(count for cell, count in found.items() if cell in ("$_NAND_", "$_NOT_"))
    return BufferCells(kind, width, size_bytes, flops, gates)


def shipped() -> list[BufferCells]:
    """The table that `main` wrote."""
    with TABLE.open(newline="") as file:
        return [
            BufferCells(r["kind"], *(int(r[f.name]) for f in fields(BufferCells)[1:])) for r in csv.DictReader(file)
        ]


def table() -> list[str]:
    """Lines of Markdown: mm2 at 32 nm of all three buffers, one copy, and one per lane."""
    lines = [
        "| buffer | width | flip-flops | NANDs per bit | 61 KB, mm² | a copy per lane, mm² |",
        "|---|---|---|---|---|---|",
    ]
    for found in shipped():
        row = [found.kind.replace("_", " "), str(found.width), str(found.flip_flops), f"{found.gates_per_bit:.2f}"]
        lines.append(f"| {' | '.join([*row, f'{found.mm2():.2f}', f'{found.mm2(copies=found.width):.2f}'])} |")
    return lines


def main() -> None:
    """Synthesise, rewrite the shipped table, print it."""
    rows = [asdict(synthesise(kind, width)) for kind in KINDS for width in (1, 4)]
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print("\n".join(table()))


if __name__ == "__main__":
    main()
