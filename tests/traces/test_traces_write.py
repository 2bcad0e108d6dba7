"""Writing kernel traces: what is written reads back as the same stream and takes the same time; the format itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import warpsift
from support.tapes import Tape
from support.trace_files import waits
from warpsift.algorithms import ALGORITHMS
from warpsift.graph import load_graph
from warpsift.run.observer import Observer
from warpsift.run.sinks import Observed
from warpsift.simt import Gpu, kernel
from warpsift.simt import stream as s
from warpsift.traces import TraceError, TraceWriter, replay, time_trace

CASES = [(a, style) for a in ("bfs", "sssp", "pagerank", "wcc") for style in ("frontier", "vertex")]


def export(folder, run, **choices):
    """Run something on a GPU whose launches are kept and written."""
    kept = Tape()
    with TraceWriter(folder, **choices) as writer:
        run(Gpu(Observed(kept, None, writer)))
    return kept, writer


def algorithm(name, style, graph="kron-7"):
    chosen = ALGORITHMS[name]
    prepared, options = chosen.prepare(load_graph(graph), chosen.options())
    return lambda gpu: chosen.styles[style](gpu, prepared, options)


def plain(ops, transactions):
    """Comparable form of a warp: kinds, lanes, counts, transactions, who waits for whom; slots may be renamed."""
    out = []
    for op, found, waited in zip(ops, transactions, waits(ops), strict=True):
        memory = [(int(t) >> 16, int(t) >> 8 & 255, int(t) & 15) for t in found]
        item = [int(op["kind"]), int(op["lanes"]), int(op["count"]), memory, waited, int(op["slot"]) != s.NO_SLOT]
        out.append(item)
    return out


@pytest.mark.parametrize(("name", "style"), CASES)
def test_round_trip_of_algorithms(tmp_path, name, style):
    kept, writer = export(tmp_path / "t", algorithm(name, style))
    again = Tape()
    replay(tmp_path / "t", again)
    assert [launch[0].kernel for launch in kept.launches] == [launch[0].kernel for launch in again.launches]
    assert [launch[0].phase for launch in kept.launches] == [launch[0].phase for launch in again.launches]
    assert writer.dropped_dependences == 0
    warps = list(zip(kept.warps(), again.warps(), strict=True))
    different = 0
    for (ops, transactions), (read, read_transactions) in warps:
        wanted, found = plain(ops, transactions), plain(read, read_transactions)
        if len(found) == len(wanted) + 1 and found[-1][:3] == [s.ALU, 32 - wanted[-1][1], 1]:
            found.pop()  # EXIT of the lanes that had left before
        if wanted != found:
            different += 1
            assert only_memory(wanted) == only_memory(found)
    # Only a run of nothing but floating-point instructions before another run is joined to it.
    assert different <= (0.05 * len(warps) if name == "pagerank" else 0)


def only_memory(items):
    return [item[:4] + item[5:] for item in items if item[0] != s.ALU]


@pytest.mark.parametrize(("name", "style"), [("bfs", "frontier"), ("pagerank", "vertex")])
def test_a_trace_takes_as_long_as_the_run_it_was_made_of(tmp_path, name, style):
    with TraceWriter(tmp_path / "t") as writer:
        run = warpsift.simulate(name, "kron-8", style=style, gpu="gtx980", observer=Observer(also=writer), check=False)
    trace = time_trace(tmp_path / "t", "gtx980")
    assert trace.cycles == pytest.approx(run.cycles, rel=0.005)
    assert (trace.dram_reads, trace.transactions) == (run.dram_reads, run.transactions)
    assert trace.warp_instructions - run.warp_instructions <= 32 * writer.kernels
    assert [p.name for p in trace.phases] == [p.name for p in run.phases]


@kernel(guard=False)
def mixed(t, words, wide, out):
    with t.where(t.lane < 20):
        t.store(out, (t.id * 37) % 2048, t.load(words, t.id % 64))
    t.atomic_add(out, t.id % 3, 1)
    t.store(wide, t.id, t.load(wide, t.id) + 1)


def run_mixed(gpu):
    words = gpu.memory.array("words", np.arange(2048, dtype=np.int32))
    wide = gpu.memory.array("wide", np.arange(2048, dtype=np.int64))
    out = gpu.memory.array("out", np.zeros(2048, dtype=np.int32))
    gpu.launch(mixed, 256, words, wide, out, phase="mixed", threads_per_cta=64)


def test_round_trip_keeps_atomics_wide_words_and_lanes(tmp_path):
    kept, writer = export(tmp_path / "t", run_mixed, compress=True)
    again = Tape()
    replay(tmp_path / "t", again)
    for (ops, transactions), (read, found) in zip(kept.warps(), again.warps(), strict=True):
        assert plain(ops, transactions) == plain(read, found)
    assert writer.instructions == sum(int(np.where(o["kind"] == s.ALU, o["count"], 1).sum()) for o, _ in kept.warps())


INSTRUCTION = re.compile(
    r"[0-9a-f]{4} [0-9a-f]{8} (0|1 R\d+) (?P<opcode>[A-Z][A-Z0-9.]*) (?P<sources>\d)(?P<registers>( R\d+)*) "
    r"(?P<width>\d+)(?P<memory>( [12] 0x[0-9a-f]+( -?\d+)*)?) 0$"
)
# These are in each of Accel-Sim's opcode tables, Pascal to Ampere.
KNOWN = {"IADD3", "FADD", "ISETP", "FSETP", "BRA", "EXIT", "BAR", "LDS", "STS", "LDG", "STG", "ATOMG", "RED"}


def test_the_format_is_the_tracers(tmp_path):
    """Every line is what Accel-Sim's parser expects, and every thread of every warp leaves by EXIT once."""
    export(tmp_path / "t", algorithm("bfs", "frontier"))
    names = (tmp_path / "t" / "kernelslist.g").read_text().split()
    assert names[:2] == ["kernel-1.traceg", "kernel-2.traceg"]
    for name in names:
        header, _, body = (tmp_path / "t" / name).read_text().partition("#traces format")
        assert "-accelsim tracer version = 5\n" in header and "-nregs = 32\n" in header
        ctas = int(re.search(r"-grid dim = \((\d+),1,1\)", header)[1])
        blocks = body.split("#BEGIN_TB")[1:]
        assert len(blocks) == ctas and all(block.rstrip().endswith("#END_TB") for block in blocks)
        for block in blocks:
            for warp in re.split(r"\nwarp = \d+\n", block.partition("#END_TB")[0])[1:]:
                count, *lines = warp.strip().splitlines()
                assert count == f"insts = {len(lines)}"
                gone = 0
                for line in lines:
                    match = INSTRUCTION.match(line)
                    assert match, line
                    assert match["opcode"].split(".")[0] in KNOWN
                    assert int(match["sources"]) == match["registers"].count("R") <= 4
                    assert bool(match["memory"]) == (match["width"] != "0")
                    if match["opcode"] == "EXIT":
                        mask = int(line.split()[1], 16)
                        assert not gone & mask
                        gone |= mask
                assert gone == 0xFFFFFFFF


def test_an_error_or_interruption_leaves_nothing(tmp_path):
    def interrupted(gpu):
        run_mixed(gpu)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(tmp_path / "t", interrupted)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(TraceError, match="full: is there already; name a new or an empty folder for the trace"):
        export(tmp_path / "full", run_mixed)
    with (
        pytest.raises(TraceError, match="of the scu cannot be written as a kernel trace: export a run without a unit"),
        TraceWriter(tmp_path / "t") as writer,
    ):
        warpsift.simulate("bfs", "kron-7", unit="scu", observer=Observer(also=writer))
    with (
        pytest.raises(TraceError, match=r"^kernel 'advance' commands a special unit, for which Accel-Sim's traces"),
        TraceWriter(tmp_path / "t") as writer,
    ):
        warpsift.simulate("bfs", "kron-7", unit="mff", style="vertex", observer=Observer(also=writer))
    assert [p.name for p in tmp_path.iterdir()] == ["full"]


# ---- the command -------------------------------------------------------------------------------------------------


def call(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "warpsift.cli", *words], capture_output=True, text=True, timeout=300, **options
    )


def test_export_and_time_from_the_command_line(tmp_path):
    made = call("run", "bfs", "--graph", "grid-20x20", "--source", "0", "--export-trace", "t", "--json", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    note = json.loads(made.stdout)["notes"]["exported_trace"]
    assert re.fullmatch(r"t: \d+ kernels, \d+ warp instructions", note)
    timed = call("run", "--trace", "t", "--json", cwd=tmp_path)
    assert timed.returncode == 0, timed.stderr
    result = json.loads(timed.stdout)
    assert result["algorithm"] == "trace" and result["transactions"] == json.loads(made.stdout)["transactions"]
    shown = call("run", "--trace", "t", cwd=tmp_path)
    assert "trace t" in shown.stdout and "expand" in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to run: give an algorithm (bfs, sssp, pagerank, wcc, bc or tc) with --graph, or --trace DIR"),
        (("bfs",), "bfs needs a graph: --graph FILE, or a name such as --graph delaunay-14"),
        (("bfs", "--trace", "t"), "--trace t and bfs: give an algorithm with --graph, or --trace, not both"),
        (("--trace", "t"), "t: no such file; --trace takes a folder with kernelslist.g, or a .traceg file"),
        (
            ("bfs", "--graph", "kron-7", "--timeline", "x.pftrace"),
            "--timeline x.pftrace needs --gpu: without a machine there is no time",
        ),
        (
            ("bfs", "--graph", "kron-7", "--gpu", "titanx", "--timeline", "no/x.pftrace"),
            "--timeline no/x.pftrace: there is no folder no",
        ),
    ],
)
def test_errors_to_the_letter(tmp_path, words, message):
    done = call("run", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"error: {message}")


@pytest.mark.parametrize(("capability", "version"), [(20, 60), (52, 60), (61, 61), (70, 70), (89, 90), (120, 90)])
def test_a_trace_carries_the_version_of_its_architecture(tmp_path, capability, version):
    with TraceWriter(tmp_path / "t", compute_capability=capability) as writer:
        warpsift.simulate("bfs", "kron-5", observer=Observer(also=writer), check=False)
    assert f"-binary version = {version}\n" in (tmp_path / "t" / "kernel-1.traceg").read_text()
