"""The emitted Verilog in an independent simulator, Icarus Verilog, with a memory model written in Verilog.

The testbench loads a memory image and a command, runs the unit with random latencies, replies in any order and random
refusals, and writes the memory back. Several vectors run in one simulation, so that the unit keeps its state.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

from warpsift.hdl.compare import Vector
from warpsift.hdl.interfaces import COMMAND, reply_layout, request_layout
from warpsift.hdl.parameters import ScuParameters
from warpsift.hdl.yosys import HdlToolError

WAITING = 2048  # replies that the model can hold
PORT = """
  wire [{request}:0] {p}_request_payload; wire {p}_request_valid; reg {p}_request_ready = 0;
  reg [{reply}:0] {p}_reply_payload = 0; reg {p}_reply_valid = 0; wire {p}_reply_ready;
  integer {p}_level = 0; reg [31:0] {p}_due [0:{waiting}-1]; reg [{reply}:0] {p}_held [0:{waiting}-1];
  task {p}_push(input [{tag}:0] tag, input [1:0] sector, input [255:0] data); begin
    {p}_due[{p}_level] = now + 1 + $urandom(seed) % LONGEST;
    {p}_held[{p}_level] = {{data, sector, tag}};
    {p}_level = {p}_level + 1;
  end endtask
  task {p}_take; integer s; reg [255:0] data; reg [{tag}:0] tag; reg [34:0] sector; integer b; begin
    tag = {p}_request_payload[2 +: {tag}+1];
    sector = {p}_request_payload[{tag}+3 +: 35];
    if ({p}_request_payload[0]) begin
      for (b = 0; b < 32; b = b + 1)
        if ({p}_request_payload[{tag}+42 + b]) memory[sector * 32 + b] = {p}_request_payload[{tag}+74 + 8 * b +: 8];
      if ({p}_request_payload[1]) {p}_push(tag, 0, 0);
    end else
      for (s = 0; s < 4; s = s + 1) if ({p}_request_payload[{tag}+38 + s]) begin
        for (b = 0; b < 32; b = b + 1) data[8 * b +: 8] = memory[(sector + s) * 32 + b];
        {p}_push(tag, s, data);
      end
  end endtask
  task {p}_answer; integer k, chosen; begin
    chosen = -1;
    for (k = 0; k < {p}_level; k = k + 1)
      if ({p}_due[k] <= now && (chosen < 0 || $urandom(seed) % 2)) chosen = k;
    {p}_reply_valid = chosen >= 0;
    if (chosen >= 0) begin
      {p}_reply_payload = {p}_held[chosen];
      {p}_level = {p}_level - 1;
      {p}_held[chosen] = {p}_held[{p}_level];
      {p}_due[chosen] = {p}_due[{p}_level];
    end
    {p}_request_ready = $urandom(seed) % 4 != 0;
  end endtask
"""
BENCH = """`timescale 1ns/1ps
module bench;
  parameter LONGEST = 60;
  reg clk = 0, rst = 1; always #5 clk = ~clk;
  reg [7:0] memory [0:{bytes}-1];
  integer now = 0, seed = {seed}, waits;
  reg [{command}:0] command_payload = 0; reg command_valid = 0; wire command_ready;
  wire [31:0] result_payload; wire result_valid; reg result_ready = 0;
{ports}
  scu unit(.clk(clk), .rst(rst), .command__payload(command_payload), .command__valid(command_valid),
    .command__ready(command_ready), .result__payload(result_payload), .result__valid(result_valid),
    .result__ready(result_ready){connections});
  // Inputs change after the falling edge; what is valid and ready before the next rising edge is exchanged at it.
  task cycle; begin
    @(negedge clk); {answers}
    result_ready = 1;
    #4; {takes}
    now = now + 1;
  end endtask
  task run(input [{command}:0] command, input integer number); begin
    @(negedge clk); command_payload = command; command_valid = 1; result_ready = 0; {idle}
    #4; while (!command_ready) begin @(negedge clk); #4; end
    @(negedge clk); command_valid = 0;
    waits = 0;
    cycle;
    while (!result_valid && waits < 1000000) begin cycle; waits = waits + 1; end
    if (result_valid) $display("result %0d %0d %0d", number, result_payload, waits);
    else $display("timeout %0d", number);
    cycle;
  end endtask
  initial begin
    repeat (3) @(negedge clk); rst = 0;
{runs}
    $finish;
  end
endmodule
"""


def command_bits(command: dict[str, int]) -> int:
    return COMMAND.const({name: int(value) for name, value in command.items()}).as_value().value


def testbench(p: ScuParameters, vectors: list[Vector], folder: Path, seed: int) -> str:
    """A testbench that runs these vectors; it reads and writes its memory images in `folder`."""
    names = ["data", "hash"][: p.ports]
    extra = 1 if p.ports == 1 else 0
    widths = {
        "request": request_layout(p, extra).as_shape().width - 1,
        "reply": reply_layout(p, extra).as_shape().width - 1,
        "tag": p.tag_bits + extra - 1,
        "waiting": WAITING,
    }
    signals = ("request__payload", "request__valid", "request__ready", "reply__payload", "reply__valid", "reply__ready")
    runs = []
    command_width = COMMAND.as_shape().width
    for number, vector in enumerate(vectors):
        value = f"{command_width}'h{command_bits(vector.command):x}"
        last = len(vector.before) - 1
        runs += [
            f'    $readmemh("{folder}/before{number}.hex", memory, 0, {last});',
            f"    run({value}, {number});",
            f'    $writememh("{folder}/after{number}.hex", memory, 0, {last});',
        ]
    return BENCH.format(
        bytes=max(len(v.before) for v in vectors) + 128,
        seed=seed,
        command=command_width - 1,
        ports="".join(PORT.format(p=name, **widths) for name in names),
        connections="".join(f",\n    .{n}_{s}({n}_{s.replace('__', '_')})" for n in names for s in signals),
        answers=" ".join(f"{n}_answer;" for n in names),
        takes=" ".join(f"if ({n}_request_valid && {n}_request_ready) {n}_take;" for n in names),
        idle=" ".join(f"{n}_reply_valid = 0; {n}_request_ready = 0;" for n in names),
        runs="\n".join(runs),
    )


def available() -> bool:
    return shutil.which("iverilog") is not None and shutil.which("vvp") is not None


def run_vectors(
    verilog: str, p: ScuParameters, vectors: list[Vector], folder: Path, seed: int = 1
) -> list[tuple[int, np.ndarray]]:
    """Execute vectors; gives for each (elements kept, memory afterwards)."""
    if not available():
        raise HdlToolError("Icarus Verilog is not installed; on Debian: apt install iverilog")
    (folder / "scu.v").write_text(verilog)
    for number, vector in enumerate(vectors):
        (folder / f"before{number}.hex").write_text("\n".join(f"{byte:02x}" for byte in vector.before))
    (folder / "bench.v").write_text(testbench(p, vectors, folder, seed))
    _call(["iverilog", "-g2012", "-o", "bench.vvp", "bench.v", "scu.v"], folder)
    lines = _call(["vvp", "bench.vvp"], folder).splitlines()
    found = {int(line.split()[1]): int(line.split()[2]) for line in lines if line.startswith("result")}
    results = []
    for number in range(len(vectors)):
        if number not in found:
            raise HdlToolError(
                f"vector {number} ({vectors[number].name}) did not finish in Icarus Verilog: {lines[-3:]}"
            )
        words = (folder / f"after{number}.hex").read_text().split("\n")
        values = [int(word, 16) for line in words if not line.startswith("//") for word in line.split()]
        results.append((found[number], np.array(values, np.uint8)))
    return results


def _call(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HdlToolError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout
